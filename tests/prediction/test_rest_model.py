"""An export answers over REST as TensorFlow Serving documents and tests it."""

from __future__ import annotations

import json
import math

import pytest

from estimator_trainer.prediction.rest_model import RestModel
from tests.support import half_plus_two

pytestmark = pytest.mark.any_tensorflow

HALF = "/v1/models/half"


@pytest.fixture(name="model", scope="module")
def fixture_model(tmp_path_factory):
    """The model of the real server's tests, by the name `half`, with the version 123."""
    return RestModel(half_plus_two.write(tmp_path_factory.mktemp("half")), "half")


def _post(model, request, method="predict", path=HALF):
    body = request if isinstance(request, bytes) else json.dumps(request).encode()
    code, text = model.answer("POST", f"{path}:{method}", body)
    return code, json.loads(text)


# The requests and answers of tensorflow_serving/model_servers/http_rest_api_handler_test.cc and of
# its documentation, with inputs of shape [batch, 1].
@pytest.mark.parametrize("method, request_, expected", [
    ("predict", {"instances": [[1.0], [2.0], [5.0]]}, {"predictions": [[2.5], [3.0], [4.5]]}),
    ("predict", {"signature_name": "serving_default", "instances": [[3], [4]]},
     {"predictions": [[3.5], [4.0]]}),
    ("predict", {"inputs": [[3.0], [4.0]]}, {"outputs": [[3.5], [4.0]]}),
    ("predict", {"inputs": {"x": [[3.0]]}}, {"outputs": [[3.5]]}),
    ("predict", {"instances": [{"x": [3.0]}]}, {"predictions": [[3.5]]}),
    ("predict", {"signature_name": "named", "instances": [
        {"count": 1, "name": "a\u00e4"}, {"count": 2, "name": {"b64": "Yg=="}}]},
     {"predictions": [{"twice": 2, "name": "a\u00e4", "name_bytes": {"b64": "YcOk"}},
                      {"twice": 4, "name": "b", "name_bytes": {"b64": "Yg=="}}]}),
    ("predict", {"signature_name": "named", "inputs": {"count": [1], "name": ["a"]}},
     {"outputs": {"twice": [2], "name": ["a"], "name_bytes": [{"b64": "YQ=="}]}}),
    ("predict", {"signature_name": "sum", "inputs": [1, 2, 3]}, {"outputs": 6}),
    ("regress", {"signature_name": "regress_x_to_y", "examples": [{"x": 80.0}, {"x": [1.0]}]},
     {"results": [42, 2.5]}),
    ("regress", {"signature_name": "regress_x_to_y", "context": {"x": 80.0},
                 "examples": [{}, {"x": 1.0}]}, {"results": [42, 2.5]}),
    ("classify", {"signature_name": "classify_x_to_y", "examples": [{"x": 20.0}]},
     {"results": [[["", 12]]]})])
def test_a_request_has_the_answer_of_the_real_server(model, method, request_, expected):
    assert _post(model, request_, method) == (200, expected)
    assert _post(model, request_, method, f"{HALF}/versions/123") == (200, expected)


@pytest.mark.parametrize("method, request_, expected", [
    ("predict", b"", "JSON Parse error: The document is empty"),
    ("predict", b"instances = [1, 2]", "JSON Parse error: "),
    ("predict", [1], "Is not object"),
    ("predict", {}, "Missing 'inputs' or 'instances' key"),
    ("predict", {"instances": [1], "inputs": [1]}, "expecting only one of"),
    ("predict", {"instances": []}, "'instances'"),
    ("predict", {"instances": [["x"]]}, 'JSON Value: "x" Type: String is not of expected type: f'),
    ("predict", {"instances": [[None]]}, "Type: Null is not of expected type: float"),
    ("predict", {"instances": [[1e39]]}, "to float without loss of precision"),
    ("predict", {"instances": [[1.0], [1.0, 2.0]]}, "Expecting tensor size: 1 but got: 2"),
    ("predict", {"instances": [1.0]}, "Cannot feed value of shape (1,)"),
    ("predict", {"instances": [{"z": 1.0}]}, "keys must be equal to: x"),
    ("predict", {"signature_name": "none", "instances": [1]},
     'Serving signature name: "none" not found in signature def'),
    ("predict", {"signature_name": "named", "instances": [1]}, "expecting list of objects"),
    ("predict", {"signature_name": "named", "inputs": {"count": [1]}}, "Missing named input: name"),
    ("predict", {"signature_name": "named", "inputs": {"count": [1.5], "name": ["a"]}},
     "JSON Value: 1.5 Type: Number is not of expected type: int32"),
    ("predict", {"signature_name": "named", "inputs": {"count": [1], "name": [{"b64": "?"}]}},
     "Unable to base64 decode"),
    ("predict", {"signature_name": "sum", "instances": [1]}, "sum has no shape information"),
    ("predict", {"signature_name": "ids", "instances": [1]}, "'ids' is no dense tensor"),
    ("classify", {"examples": [{"x": 1.0}]},
     "Expected classification signature method_name to be tensorflow/serving/classify. Was: "),
    ("regress", {"signature_name": "regress_x_to_y", "examples": [{"x": [1.0, 2]}]},
     "Unexpected element type in feature: x expecting type: float"),
    ("regress", {"signature_name": "regress_x_to_y", "examples": [{"x": [[1.0]]}]},
     "Feature: x has element with unexpected JSON type: Array"),
    ("regress", {"signature_name": "regress_x_to_y", "examples": [{"x": 1}]}, "x")])
def test_a_bad_request_is_an_error_of_the_real_server(model, method, request_, expected):
    code, answer = _post(model, request_, method)
    assert code == 400 and list(answer) == ["error"] and expected in answer["error"]


@pytest.mark.parametrize("method, path, code, expected", [
    ("POST", "/v1/models/foo:predict", 404, "Servable not found for request: Latest(foo)"),
    ("POST", "/v1/models/half/versions/9:predict", 404, "Specific(half, 9)"),
    ("GET", "/v1/models/foo", 404, "Servable not found"),
    ("GET", "/v1/models", 400, "Missing model name in request."),
    ("GET", "/v1/foo", 400, "Malformed request: GET /v1/foo"),
    ("GET", "/v1/models/half:predict", 400, "Malformed request"),
    ("POST", "/v1/models/half/version/50:regress", 400, "Malformed request"),
    ("POST", "/v1/models/half/versions/HELLO:regress", 400, "Malformed request"),
    ("GET", "/index", 404, "Not Found")])
def test_a_wrong_path_is_an_error_of_the_real_server(model, method, path, code, expected):
    found = model.answer(method, path, b'{"instances": [[1]]}')
    assert found.code == code and expected in json.loads(found.text)["error"]


def test_status_and_metadata_are_those_of_the_real_server(model):
    for path in (HALF, f"{HALF}/versions/123"):
        assert json.loads(model.answer("GET", path).text) == {"model_version_status": [{
            "version": "123", "state": "AVAILABLE",
            "status": {"error_code": "OK", "error_message": ""}}]}
    found = json.loads(model.answer("GET", f"{HALF}/metadata").text)
    assert found["model_spec"] == {"name": "half", "signature_name": "", "version": "123"}
    signatures = found["metadata"]["signature_def"]["signature_def"]
    assert signatures["serving_default"]["method_name"] == "tensorflow/serving/predict"
    assert signatures["serving_default"]["inputs"] == {"x": {
        "dtype": "DT_FLOAT", "name": "x:0", "tensor_shape": {
            "dim": [{"size": "-1", "name": ""}, {"size": "1", "name": ""}],
            "unknown_rank": False}}}


def test_numbers_that_json_lacks_are_those_of_the_real_server(model):
    code, text = model.answer("POST", f"{HALF}:predict",
                              b'{"instances": [[NaN], [Infinity], [-Infinity], [0.6]]}')
    assert code == 200 and "NaN" in text and "-Infinity" in text
    [[nan], [large], [small], [number]] = json.loads(text)["predictions"]
    assert math.isnan(nan) and large == -small == math.inf and number == 2.3
