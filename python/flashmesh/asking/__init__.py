"""What would help a drive most: one key at a time changed by its declared step, and what each change brings."""
