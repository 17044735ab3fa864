"""Writes the Python client: `python generate.py FOLDER`, with `openapi-python-client` installed.

The folder then holds the package `flowsdk_client`, ready for `pip install FOLDER`.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

DOCUMENT = Path(__file__).resolve().parent.parent.parent / "docs" / "openapi.json"
# The generator cannot name the parts of these unions, so definitions are plain dictionaries in Python.
FREE = ("FlowDefinition", "FlowDraft")
PARTS = ("Block", "Action", "Condition", "Output", "Target", "Input", "Message")


def simplified(document: dict) -> dict:
    """Returns the document with definitions of flows as objects of any fields."""
    schemas = document["components"]["schemas"]
    for name in FREE:
        schemas[name] = {"type": "object", "additionalProperties": True}
    for part in PARTS:
        del schemas[f"Flow{part}"]
    return document


def generate(folder: Path) -> None:
    """Writes the package into `folder`, which is made anew."""
    with tempfile.TemporaryDirectory() as place:
        document = Path(place) / "openapi.json"
        document.write_text(json.dumps(simplified(json.loads(DOCUMENT.read_text()))))
        config = Path(place) / "config.json"
        config.write_text(json.dumps({
            "project_name_override": "flowsdk-client",
            "package_name_override": "flowsdk_client",
        }))
        generator = [str(Path(sys.executable).parent / "openapi-python-client"), "generate", "--overwrite"]
        options = ["--meta", "setup", "--config", str(config), "--output-path", str(folder)]
        subprocess.run([*generator, "--path", str(document), *options], check=True)


if __name__ == "__main__":
    generate(Path(sys.argv[1]))
