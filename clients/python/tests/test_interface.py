"""The generated modules say what the committed OpenAPI and AsyncAPI documents say."""

import inspect
import json
import typing
import unittest
from pathlib import Path
from typing import Any

from bezel import AsyncClient, Client, types
from bezel.api import OPERATIONS, Api, AsyncApi
from bezel.errors import ApiError
from bezel.refusals import REFUSALS

REFERENCE = Path(__file__).parents[3] / "docs" / "reference"
OPENAPI = json.loads((REFERENCE / "openapi.json").read_text())
ASYNCAPI = json.loads((REFERENCE / "asyncapi.json").read_text())
RENAMED = {"Decimal": "DecimalText", "Error": "ErrorBody"}


def operations() -> dict[str, tuple[str, str, Any]]:
    """Returns method, path and description of each operation by its id."""
    return {
        operation["operationId"]: (method.upper(), path, operation)
        for path, methods in OPENAPI["paths"].items()
        for method, operation in methods.items()
    }


def snake(name: str) -> str:
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in name)


class Operations(unittest.TestCase):
    def test_are_all_there(self) -> None:
        found = {id: (operation.method, operation.path) for id, operation in OPERATIONS.items()}
        self.assertEqual(found, {id: (method, path) for id, (method, path, _) in operations().items()})

    def test_have_the_credentials_that_the_document_asks_for(self) -> None:
        for id, (_, _, operation) in operations().items():
            schemes = {name for entry in operation.get("security", []) for name in entry}
            expected = "agent_or_key" if "ApiKey" in schemes else "agent" if schemes else "none"
            self.assertEqual(OPERATIONS[id].access, expected, id)

    def test_have_a_method_for_those_who_block_and_for_those_who_await(self) -> None:
        for id, (_, _, operation) in operations().items():
            one, other = getattr(Api, snake(id)), getattr(AsyncApi, snake(id))
            self.assertEqual(inspect.signature(one), inspect.signature(other), id)
            self.assertTrue(inspect.iscoroutinefunction(other), id)
            parameters = inspect.signature(one).parameters
            for parameter in operation.get("parameters", []):
                if "$ref" not in parameter and parameter["name"] != "chain":
                    self.assertIn(snake(parameter["name"]), [name.rstrip("_") for name in parameters], id)
            self.assertEqual("requestBody" in operation, "body" in parameters, id)
            self.assertIn(operation["summary"].rstrip(".").split("\n")[0][:60], inspect.getdoc(one) or "", id)


class Types(unittest.TestCase):
    def test_have_the_fields_of_every_schema(self) -> None:
        count = 0
        schemas = {**ASYNCAPI["components"]["schemas"], **OPENAPI["components"]["schemas"]}
        for name, schema in schemas.items():
            python = getattr(types, RENAMED.get(name, name))
            if "properties" in schema:
                self.check_fields(name, schema, python)
                count += 1
        self.assertGreater(count, 40)

    def check_fields(self, name: str, schema: Any, python: Any) -> None:
        hints = typing.get_type_hints(python, include_extras=True)
        optional = {field for field, of in hints.items() if typing.get_origin(of) is typing.NotRequired}
        self.assertEqual(set(hints), set(schema["properties"]), name)
        self.assertEqual(set(hints) - optional, set(schema.get("required", [])), name)

    def test_have_the_fields_of_every_message(self) -> None:
        kinds = typing.get_args(types.StreamMessage)
        messages = {typing.get_args(typing.get_type_hints(of)["channel"])[0]: of for of in kinds}
        told = {
            message["payload"]["properties"]["channel"]["const"]: message["payload"]
            for name, message in ASYNCAPI["components"]["messages"].items()
            if name.startswith("data")
        }
        self.assertEqual(set(messages), set(told))
        for channel, payload in told.items():
            self.check_fields(channel, payload, messages[channel])

    def test_take_decimals_in_requests_and_give_text_in_answers(self) -> None:
        self.assertEqual(typing.get_type_hints(types.CreateOrderRequest)["size"], types.Numeric)
        self.assertIs(typing.get_type_hints(types.Order)["size"], str)


class Errors(unittest.TestCase):
    def test_have_a_class_for_each_code(self) -> None:
        codes = OPENAPI["components"]["schemas"]["Error"]["properties"]["code"]["enum"]
        self.assertEqual(set(REFUSALS), set(codes))
        for code, refusal in REFUSALS.items():
            self.assertTrue(issubclass(refusal, ApiError))
            self.assertEqual(refusal.code, code)
            self.assertIn(code, refusal.__doc__ or "")


class Clients(unittest.TestCase):
    def test_have_the_same_methods(self) -> None:
        def methods(of: type) -> dict[str, list[str]]:
            found = {name: getattr(of, name) for name in dir(of) if not name.startswith("_")}
            return {name: list(inspect.signature(method).parameters) for name, method in found.items()}

        self.assertEqual(methods(Client), methods(AsyncClient))

    def test_say_the_same(self) -> None:
        for name in [name for name in dir(Client) if not name.startswith("_")]:
            one, other = (inspect.getdoc(getattr(of, name)) for of in (Client, AsyncClient))
            self.assertIsNotNone(one, name)
            self.assertEqual(one, other)

    def test_take_the_same_options(self) -> None:
        one, other = inspect.signature(Client).parameters, dict(inspect.signature(AsyncClient).parameters)
        other.pop("io")
        defaults = [{name: of.default for name, of in options.items()} for options in (one, other)]
        self.assertEqual(defaults[0], defaults[1])
