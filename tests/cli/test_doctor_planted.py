"""`spark-lineage doctor` against mistakes that are planted for real: extractors, files, variables."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

RUN = [sys.executable, "-m", "airflow_provider_spark_lineage", "doctor", "--json"]
TRANSPORT = {
    "type": "file",
    "log_file_path": "events/all",
    "append": True,
    "auth": {"type": "api_key", "apiKey": "tr0ub4dor"},
}
OURS = "airflow_provider_spark_lineage.extractors"
RIGHT = {
    "AIRFLOW__OPENLINEAGE__NAMESPACE": "tests",
    "AIRFLOW__OPENLINEAGE__TRANSPORT": json.dumps(TRANSPORT),
    "AIRFLOW__OPENLINEAGE__EXTRACTORS": ";".join(
        [f"{OURS}.SparkExtractor", f"{OURS}.launchers.LauncherExtractor", "good.Extractor"]
    ),
    "AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE": "True",
}
BASE = """
from airflow.providers.openlineage.extractors.base import BaseExtractor, OperatorLineage

class Extractor(BaseExtractor):
    @classmethod
    def get_operator_classnames(cls):
        return ["{operator}"]

    def _execute_extraction(self):
        return OperatorLineage()
"""
EXTRACTORS = {
    "good.py": BASE.format(operator="CompanyOperator"),
    "first.py": BASE.format(operator="TwiceOperator"),
    "second.py": BASE.format(operator="TwiceOperator"),
    "of_submit.py": BASE.format(operator="SparkSubmitOperator"),
    # What OpenLineage's plugin imports while it loads is not complete yet.
    "circular.py": "from airflow.providers.openlineage.plugins.openlineage import OpenLineageProviderPlugin\n"
    + BASE.format(operator="CircularOperator"),
    "old.py": "from openlineage.airflow.extractors.base import BaseExtractor, TaskMetadata\n",
    "raising.py": "raise RuntimeError('no such licence: http://me:swordfish@host')\n",
    "leaving.py": "import sys\nprint('goodbye')\nsys.exit(3)\n",
    "broken.py": "def (:\n",
    "killing.py": "import os\nos._exit(7)\n",
}


CFG = """
[openlineage]
spark_inject_transport_info = True
extractor = good.Extractor
[spark_lineage]
auto_captured = True
extra_operators = nowhere.Operator = in process; x = y
"""
FILES = {
    **{f"modules/{name}": text for name, text in EXTRACTORS.items()},
    "absent.yml": "transport: {type: file, log_file_path: /absent/events}",
    "broken.yml": "transport: {type: http, url: [",
    "site/openlineage_python-1.30.0.dist-info/METADATA": (
        "Metadata-Version: 2.1\nName: openlineage-python\nVersion: 1.30.0\n"
    ),
    "airflow/airflow.cfg": CFG,
    "airflow/plugins/own_plugin.py": "from airflow.plugins_manager import nothing\n",
    "broken_airflow/airflow.cfg": "namespace = x\n[openlineage\n",
}


@pytest.fixture
def doctor(tmp_path):
    """Return a function that runs the command in a folder with `FILES`; the advice by mistake."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)

    def run(variables: dict[str, str]) -> tuple[int, dict[str, list[str]]]:
        environment = {
            name: value
            for name, value in os.environ.items()
            if "OPENLINEAGE" not in name and "SPARK_LINEAGE" not in name
        }
        planted = {
            name: value.format(here=tmp_path) for name, value in variables.items() if "{here}" in value
        }
        environment |= {"AIRFLOW_HOME": str(tmp_path / "none"), **RIGHT, **variables, **planted}
        paths = [planted.get("PYTHONPATH"), str(tmp_path / "modules"), os.environ.get("PYTHONPATH")]
        environment["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
        done = subprocess.run(RUN, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
        text = done.stdout + done.stderr
        assert not any(word in text for word in ("Traceback", "swordfish", "tr0ub4dor")), text
        advice: dict[str, list[str]] = {}
        for finding in json.loads(done.stdout)["findings"]:
            if finding["mistake"]:
                advice.setdefault(finding["mistake"], []).append(finding["advice"])
        return done.returncode, advice

    return run


def extractors(*names: str) -> dict[str, str]:
    return {"AIRFLOW__OPENLINEAGE__EXTRACTORS": ";".join(names)}


def transport(text: str) -> dict[str, str]:
    return {"AIRFLOW__OPENLINEAGE__TRANSPORT": text}


PLANTED = {
    "nothing": ({}, 0, {}),
    # None of these stops the plugin; each loses the lineage of its operators.
    "extractors that are ignored or confused": (
        extractors(
            *(
                f"{name}.Extractor"
                for name in (*("first", "second", "of_submit", "circular", "nowhere", "good"),)
            ),
            "good.Missing",
            "plain",
        ),
        1,
        {
            "extractor-twice": ["first.Extractor and second.Extractor both claim `TwiceOperator`"],
            "extractor-before-capture": ["`SparkSubmitOperator`, because of_submit.Extractor"],
            "extractor-circular": ["import Airflow inside"],
            "extractor-import": [
                "good.Missing, which cannot be imported (ImportError: module good has no attribute Missing)",
                "nowhere.Extractor, which cannot be imported (ModuleNotFoundError: No module named",
                "plain, which cannot be imported (ImportError: plain is not a dotted path)",
            ],
        },
    ),
    # One extractor of one team silences every task of Airflow, and no task's log mentions it.
    "raising": (
        extractors("good.Extractor", "raising.Extractor"),
        1,
        {"extractor-breaks-plugin": ["raising.Extractor, whose import raises RuntimeError: no such licence"]},
    ),
    "leaving": (
        extractors("leaving.Extractor"),
        1,
        {"extractor-breaks-plugin": ["whose import raises SystemExit: 3"]},
    ),
    "broken": (
        extractors("broken.Extractor"),
        1,
        {"extractor-breaks-plugin": ["whose import raises SyntaxError: invalid syntax"]},
    ),
    "killing": (extractors("killing.Extractor"), 1, {"listener-unknown": ["ended with exit code 7"]}),
    # What a machine has in many places is found in one run, in the places that Spark and Airflow read.
    "files-and-variables": (
        {
            "PYTHONPATH": "{here}/site",
            "AIRFLOW_HOME": "{here}/airflow",
            **extractors("good.Extractor, first.Extractor"),
            "AIRFLOW__OPENLINEAGE__CUSTOM_RUN_FACETS": "a.b c.d",
            "AIRFLOW__OPENLINEAGE__DISABLED_FOR_OPERATORS": "SparkSubmitOperator;company.Right",
            "AIRFLOW__OPENLINEAGE__EMISSION_POLICY": "{}",
            "AIRFLOW__OPENLINEAGE__CONFIG_PATH": "absent.yml",
            "AIRFLOW__SPARK_LINEAGE_DISABLED": "True",
            "AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE_INCLUDE": "shop, etl",
        },
        1,
        {
            "package-version": ["openlineage-python"],
            "plugin-broken": ["own_plugin.py"],
            "transport-folder": ["/absent does not exist"],
            "transport-ignored": ["`[openlineage] config_path` is set"],
            "option-unreadable": ["`[openlineage] emission_policy`"],
            "option-unknown": ["no option `[openlineage] extractor`; set `extractors`"],
            "operators-bare-name": ["names SparkSubmitOperator without the module"],
            "list-separator": ["write `a.b;c.d`", "write `good.Extractor;first.Extractor`"],
            "own-option": ["did you mean `auto_capture`?"],
            "own-variable": ["rename it to AIRFLOW__SPARK_LINEAGE__DISABLED"],
            "own-value": ["auto_capture_include", "'x = y' is left out"],
            "own-operator": ["nowhere.Operator, which cannot be imported"],
        },
    ),
    "cut JSON": (transport('{"apiKey": "tr0ub4dor"'), 1, {"transport-unreadable": ["not a JSON object"]}),
    "a list": (transport('["http"]'), 1, {"transport-unreadable": ["not a JSON object"]}),
    "a class that is not a transport": (
        transport('{"type": "good.Extractor"}'),
        1,
        {"transport-unknown": ["is not a subclass of Transport"]},
    ),
    "a file that is not YAML": (
        {"AIRFLOW__OPENLINEAGE__CONFIG_PATH": "broken.yml", **transport("")},
        1,
        {"transport-unreadable": ["broken.yml cannot be read"]},
    ),
    "a file that is not a configuration": (
        {"AIRFLOW_HOME": "{here}/broken_airflow"},
        1,
        {"openlineage-unreadable": ["MissingSectionHeaderError"]},
    ),
    "switched off": (
        {"AIRFLOW__OPENLINEAGE__DISABLED": "True"},
        1,
        {"openlineage-off": ["switched off by `[openlineage] disabled`"]},
    ),
    "no time": (
        {"AIRFLOW__OPENLINEAGE__EXECUTION_TIMEOUT": "0"},
        1,
        {"execution-timeout": ["leaves no time"]},
    ),
    # An extractor of ours alone knows only the text of a job.
    "no capture": (
        {"AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE": "False"},
        1,
        {"planned-only": ["set `[spark_lineage] auto_capture` to True"]},
    ),
}
"""Name -> variables, exit code, words of the advice by mistake; `{here}` is the folder of `FILES`."""


@pytest.mark.airflow
@pytest.mark.parametrize("name", PLANTED)
def test_planted_mistakes_are_found(doctor, name):
    """Each mistake is found, and no correct setting is reported."""
    variables, code, mistakes = PLANTED[name]
    findings = doctor(variables)
    assert (findings[0], sorted(findings[1])) == (code, sorted(mistakes)), findings
    for mistake, words in mistakes.items():
        for advice, word in zip(sorted(findings[1][mistake]), words, strict=True):
            assert word in advice
