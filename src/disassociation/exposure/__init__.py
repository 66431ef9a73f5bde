"""What records give away: before publishing, and from a release."""
