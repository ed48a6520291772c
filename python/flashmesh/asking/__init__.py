"""Search for the changes that would help a drive most: one key at a time, by its declared step."""
