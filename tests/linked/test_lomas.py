"""Lomas' requests are answered. Its models are those of lomas-core, which its client builds requests
of and reads answers with; without them errors stand in that have its names.
"""

import subprocess
import sys
import types
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from helpers.homes import home
from helpers.paths import ROOT

import synthdp
from synthdp.core import MissingExtraError
from synthdp.release import mean_stddev

METADATA = {
    "maxContributions": 1,
    "tableSchema": {
        "columns": [
            {"name": "sex", "datatype": "string", "keyValues": ["F", "M"], "exhaustiveKeys": True},
            {"name": "age", "datatype": "integer", "minimum": 0, "maximum": 99, "required": True},
            {"name": "seen", "datatype": "date", "minimum": "2024-01-01", "maximum": "2024-01-31"},
        ]
    },
}
REQUEST = {
    "dataset_name": "people",
    "synth_name": "mst",
    "epsilon": 1.0,
    "delta": 1e-9,
    "select_cols": [],
    "synth_params": {},
    "nullable": True,
    "constraints": "",
    "return_model": False,
    "condition": "",
    "nb_samples": 7,
}
"""What `SmartnoiseSynthClient.query` of lomas-client 0.5.1 sends."""

MODELS = (
    "lomas-core==0.5.1", "diffprivlib-logger==0.0.4", "scikit-learn<1.9", "pydantic", "pydantic-core",
    "pydantic-settings", "annotated-types", "annotated-doc", "typing-inspection", "fastapi",
    "starlette", "rich", "markdown-it-py", "mdurl", "pygments", "returns", "python-dotenv",
    "opentelemetry-api",
)  # fmt: skip
"""Packages that the models import; all of lomas-client, with its notebook, takes minutes."""
MAX_SECONDS = 90


class InvalidQueryException(Exception):  # noqa: N818 (the name is that of Lomas)
    pass


class InternalServerException(Exception):  # noqa: N818
    pass


def records(n=300):
    rng = np.random.default_rng(0)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 31, n), "D")
    frame = pd.DataFrame({"sex": rng.choice(["F", "M"], n), "age": rng.integers(0, 100, n)})
    return frame.assign(seen=days.where(days.day > 10), sex=frame["sex"].where(frame["age"] > 20))


class Connector:
    """Lomas' access to a data set, which counts how often records are asked for."""

    def __init__(self, metadata=METADATA):
        self.metadata = metadata
        self.n_reads = 0

    def get_metadata(self):
        return self.metadata

    def get_pandas_df(self):
        self.n_reads += 1
        return records()


@pytest.fixture
def lomas(monkeypatch):
    """The modules of lomas-core that are imported, where it is not installed."""
    errors = types.ModuleType("lomas_core.error_handler")
    errors.InvalidQueryException = InvalidQueryException
    errors.InternalServerException = InternalServerException
    responses = types.ModuleType("lomas_core.models.responses")
    responses.SmartnoiseSynthSamples = SimpleNamespace
    for module in (errors, responses):
        monkeypatch.setitem(sys.modules, module.__name__, module)


def request(**changes):
    return SimpleNamespace(**(REQUEST | changes))


def test_a_cost_is_what_is_asked_for_and_reads_no_record():
    connector = Connector()
    assert synthdp.LomasQuerier(connector).cost(request()) == (1.0, 1e-9)
    assert connector.n_reads == 0


@pytest.mark.usefixtures("lomas")
def test_a_query_gives_rows_that_json_can_hold():
    querier = synthdp.LomasQuerier(Connector())
    rows = querier.query(request(nb_samples=200)).df_samples
    assert list(rows) == ["sex", "age", "seen"]
    assert len(rows) == 200
    kinds = {name: {type(value) for value in rows[name]} for name in rows}
    assert kinds == {"sex": {str, type(None)}, "age": {int}, "seen": {str, type(None)}}
    assert querier.synthesis.certificate["epsilon"] == 1.0
    assert querier.synthesis.certificate["delta"] == 1e-9


@pytest.mark.usefixtures("lomas")
def test_columns_and_a_mechanism_can_be_chosen_and_persons_are_protected():
    columns = [{"name": "age", "datatype": "integer", "privacyId": True}]
    columns += METADATA["tableSchema"]["columns"][::2]
    persons = {"maxContributions": 2, "tableSchema": {"columns": columns}}
    querier = synthdp.LomasQuerier(Connector(persons))
    chosen = {"mechanism": "independent"}
    rows = querier.query(request(select_cols=["sex"], synth_params=chosen)).df_samples
    assert list(rows) == ["sex"]
    certificate = querier.synthesis.certificate
    assert certificate["mechanism"]["name"] == "independent"
    assert certificate["max_rows_per_unit"] == 2


@pytest.mark.usefixtures("lomas")
@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"delta": None}, "delta"),
        ({"constraints": "{}"}, "constraints"),
        ({"condition": "age > 3"}, "condition"),
        ({"return_model": True}, "model"),
        ({"nb_samples": 0}, "nb_samples"),
        ({"nb_samples": 10**9}, "nb_samples"),
        ({"synth_name": "dpctgan"}, "dpctgan is not offered"),
        ({"synth_params": {"journal": "/tmp/journal"}}, "'journal', which is not read"),
        ({"synth_params": {"workload": "/etc/passwd"}}, "give an object"),
        ({"synth_params": {"mechanism": "os:system"}}, "mechanism is 'os:system'"),
        ({"select_cols": ["income"]}, "no column 'income'"),
    ],
)
def test_what_cannot_be_answered_is_refused_before_records_are_read(changes, what):
    connector = Connector()
    querier = synthdp.LomasQuerier(connector)
    for ask in (querier.cost, querier.query):
        with pytest.raises(InvalidQueryException, match=what):
            ask(request(**changes))
    assert connector.n_reads == 0


@pytest.mark.usefixtures("lomas")
def test_a_run_that_fails_says_whether_it_had_paid(monkeypatch):
    querier = synthdp.LomasQuerier(Connector())
    with pytest.raises(InvalidQueryException, match="target 'income'"):
        querier.query(request(synth_params={"target": "income"}))

    def fail(*_, **__):
        raise MemoryError("no memory")

    monkeypatch.setattr(home(mean_stddev), "drawn_to_measure", fail)
    with pytest.raises(InternalServerException, match=r"charge epsilon 1\.0 and delta 1e-09"):
        querier.query(request())


def test_without_lomas_the_command_that_installs_it_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "lomas_core", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'synthdp\[lomas\]'"):
        synthdp.LomasQuerier(Connector()).query(request())


@pytest.mark.slow
def test_models_of_lomas_core_ask_and_read_the_answer(tmp_path):
    """In a process of its own, on packages of its own: Lomas pins older ones than the tests have."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    command += ["--only-binary=:all:", "--target", tmp_path, *MODELS]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=MAX_SECONDS)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        pytest.skip(f"lomas-core is not installed in {MAX_SECONDS} s: {type(error).__name__}")
    code = f"""
import sys
sys.path[:0] = [{str(tmp_path)!r}, {str(Path(__file__).parent)!r}, {str(ROOT / "tests")!r}]
from lomas_core.models.requests import SmartnoiseSynthQueryModel, SmartnoiseSynthRequestModel
from lomas_core.models.responses import CostResponse, Job, QueryResponse
from test_lomas import METADATA, REQUEST, Connector, synthdp

sent = SmartnoiseSynthQueryModel.model_validate(REQUEST).model_dump_json()
querier = synthdp.LomasQuerier(Connector())
asked = SmartnoiseSynthRequestModel.model_validate_json(sent)
assert querier.cost(asked) == (1.0, 1e-9)
request = SmartnoiseSynthQueryModel.model_validate_json(sent)
result = querier.query(request)
response = QueryResponse(epsilon=1.0, delta=1e-9, requested_by="me", result=result)
answer = Job.model_validate_json(Job(status="complete", result=response).model_dump_json())
read = QueryResponse.model_validate(answer.result).result.df_samples
assert list(read) == ["sex", "age", "seen"] and len(read) == 7
assert (read.isna() == result.df_samples.isna()).all(axis=None)
assert (read.fillna(0) == result.df_samples.fillna(0)).all(axis=None)
print("answered")
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,  # not where a checkout lies, which would be taken for the package
    )
    assert done.stdout == "answered\n", done.stderr
