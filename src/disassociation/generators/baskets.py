"""Supermarket baskets in plain words, invented for the demo and the documentation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from disassociation.generators import _assemble
from disassociation.records import Transactions

if TYPE_CHECKING:
    from disassociation._kernels.missions import Missions

__all__ = ["generate_baskets"]

# What people come for, and how often: products by falling popularity within a mission.
MISSION_PRODUCTS: dict[tuple[str, float], str] = {
    (
        "breakfast",
        20,
    ): "bread, milk, butter, eggs, orange juice, coffee, jam, yoghurt, cereal, honey, tea, porridge oats, bacon, "
    "croissants",
    (
        "weekly shop",
        20,
    ): "milk, bread, potatoes, onions, carrots, apples, bananas, cheese, eggs, toilet paper, minced beef, "
    "chicken breast, rice, yoghurt, kitchen roll, frozen peas, salt",
    (
        "pasta night",
        12,
    ): "spaghetti, tomato sauce, parmesan, garlic, onions, olive oil, basil, minced beef, mozzarella, red wine, "
    "crème fraîche, anchovies, capers",
    (
        "lunch break",
        10,
    ): "sandwich, cola, crisps, chocolate bar, banana milkshake, apples, chewing gum, salad box, mineral water",
    (
        "barbecue",
        8,
    ): "sausages, beer, charcoal, burger buns, ketchup, steak, mustard, corn on the cob, coleslaw, firelighters, "
    "paper plates, jalapeños, ice cubes",
    (
        "salad",
        8,
    ): "tomatoes, cucumber, lettuce, olive oil, peppers, feta, avocados, olives, lemons, balsamic vinegar, tofu",
    (
        "curry",
        6,
    ): "rice, chicken breast, coconut milk, onions, ginger, garlic, curry paste, coriander, naan bread, chickpeas, "
    "turmeric, lime pickle",
    (
        "baking",
        6,
    ): "flour, sugar, butter, eggs, baking powder, vanilla extract, dark chocolate, icing sugar, raisins, almonds, "
    "birthday candles, marzipan",
    ("cleaning", 6): "washing powder, dish soap, sponges, bin bags, bleach, toilet paper, glass cleaner, rubber gloves",
    ("film night", 6): "popcorn, crisps, cola, ice cream, frozen pizza, salted peanuts, beer, white wine, nachos",
    ("baby", 5): "nappies, baby wipes, baby food, baby formula, milk, bananas, nappy cream, baby shampoo, dummies",
    ("pets", 5): "cat food, dog food, cat litter, dog treats, flea collar, bird seed",
    (
        "bathroom",
        5,
    ): "toothpaste, shampoo, soap, deodorant, toothbrush, razor blades, shower gel, hand cream, cotton buds",
    (
        "pharmacy",
        3,
    ): "paracetamol, tissues, cough syrup, throat lozenges, plasters, vitamin C, ibuprofen, nasal spray, thermometer, "
    "sleep aid, antacid",
}

# Bought rarely, and telling: what an attacker hopes to see next to something known. Most come on an errand of a few.
TELLING_PRODUCTS: dict[tuple[str, float], str] = {
    ("expecting", 0.6): "folic acid, pregnancy test, pickled gherkins, ginger tea, ovulation test",
    ("date", 0.6): "condoms, red roses, champagne, scented candle, breath mints, massage oil",
    ("quitting", 0.4): "nicotine patches, nicotine gum, chewing gum, alcohol-free beer",
    ("blood sugar", 0.3): "glucose tablets, blood sugar test strips, sugar-free biscuits, diabetic socks",
    ("growing old", 0.3): "denture cleaner, incontinence pads, reading glasses, hearing aid batteries, prune juice",
    ("unwelcome", 0.2): "head lice shampoo, ant traps, rat poison, athlete's foot cream, haemorrhoid cream",
    ("belief", 0.2): "matzo, halal chicken, kosher wine, incense sticks",
}

# This share of all products is bought for no mission: everybody forgets something.
UNPLANNED = 0.08
LOYALTY = 0.85
# The logarithm of the record lengths: mean length 5.
LENGTH_LOCATION = 1.38
LENGTH_SCALE = 0.7
LONGEST = 30


def generate_baskets(records: int = 1_000, random_state: int = 0) -> Transactions:
    """Supermarket baskets one can read: everyday missions, and rare purchases that tell a lot about a person.

    Invented data. About 160 products; the rarest are missing from small sets. Baskets hold 5 products on average.

    Args:
        records: How many baskets.
        random_state: The same number gives the same baskets.

    Raises:
        ParameterError: A parameter is out of its range.

    Examples:
        >>> from disassociation.generators import generate_baskets
        >>> data = generate_baskets(records=500, random_state=1)
        >>> len(data)
        500
        >>> {"bread", "milk"} <= set(data.vocabulary.to_pylist())
        True
    """
    _assemble.check_count("records", records)
    rng = _assemble.seeded(random_state)
    names, missions = _missions()
    lengths = _assemble.lognormal_lengths(records, LENGTH_LOCATION, LENGTH_SCALE, LONGEST)
    lengths = lengths[_assemble.shuffled(rng, records)]
    items = _assemble.fill_trips(rng, missions, LOYALTY, lengths, np.full(records, -1, np.int32))
    return _assemble.transactions(lengths, items, names)


def _missions() -> tuple[list[str], Missions]:
    """All products in UTF-8 byte order, and the missions with Zipf's law in each."""
    lists = {title: text.split(", ") for title, text in (MISSION_PRODUCTS | TELLING_PRODUCTS).items()}
    names = sorted({name for products in lists.values() for name in products}, key=str.encode)
    code = {name: rank for rank, name in enumerate(names)}
    mission: list[int] = []
    term: list[int] = []
    weight: list[float] = []
    for number, ((_, chance), products) in enumerate(lists.items(), start=1):
        popularity = [1 / rank for rank in range(1, len(products) + 1)]
        for name, share in zip(products, popularity, strict=True):
            entry = chance * share / sum(popularity)
            # The same product, to the same extent, in mission 0 (anything at all) and in this one.
            mission += [0, number]
            term += [code[name], code[name]]
            weight += [UNPLANNED * entry, (1 - UNPLANNED) * entry]
    return names, _assemble.tabulate_missions(np.array(mission), np.array(term), np.array(weight))
