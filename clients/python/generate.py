"""Writes the Python client: `python generate.py FOLDER [DOCUMENT]`, with `openapi-python-client` installed.

The folder then holds the package `flowsdk_client`, ready for `pip install FOLDER`. The document is `docs/openapi.json` of
this repository, unless another file is named.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

DOCUMENT = Path(__file__).resolve().parent.parent.parent / "docs" / "openapi.json"
# The generator cannot name the parts of these unions, so definitions and what flows say are plain dictionaries in Python.
FREE = ("FlowDefinition", "FlowDraft", "TestAnswer")
PARTS = ("Block", "Action", "Condition", "Output", "Target", "Input", "Message")


def simplified(document: dict) -> dict:
    """Returns the document with definitions of flows, and what they say, as objects of any fields."""
    schemas = document["components"]["schemas"]
    for name in FREE:
        schemas[name] = {"type": "object", "additionalProperties": True}
    for part in PARTS:
        del schemas[f"Flow{part}"]
    return document


def generate(folder: Path, source: Path = DOCUMENT) -> None:
    """Writes the package of the document `source` into `folder`, which is made anew."""
    with tempfile.TemporaryDirectory() as place:
        document = Path(place) / "openapi.json"
        document.write_text(json.dumps(simplified(json.loads(source.read_text()))))
        config = Path(place) / "config.json"
        config.write_text(json.dumps({
            "project_name_override": "flowsdk-client",
            "package_name_override": "flowsdk_client",
        }))
        generator = [str(Path(sys.executable).parent / "openapi-python-client"), "generate", "--overwrite"]
        options = ["--meta", "setup", "--config", str(config), "--output-path", str(folder)]
        subprocess.run([*generator, "--path", str(document), *options], check=True)


if __name__ == "__main__":
    generate(*map(Path, sys.argv[1:3]))
