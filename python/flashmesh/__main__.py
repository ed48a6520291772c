"""Entry point of `python -m flashmesh`."""

from flashmesh.cli import main

if __name__ == "__main__":
    main()
