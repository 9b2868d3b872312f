import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evallib.case import Step
from evallib.domain import Returns, Tool
from evallib.errors import InputError
from evallib.records import ToolCall
from evallib.targets.played import AWAITING, PlayedTools

TEXT = {"type": "string"}
YES = Step(approve=True, approver="Ines", rationale="customers wait")


def play(**tools):
    return PlayedTools(tools).begin()


STATUS = Tool(
    arguments={"name": TEXT},
    returns=(
        Returns(when={"name": "bell"}, after="restart", result={"state": "ringing"}),
        Returns(when={"name": "bell"}, result={"state": "silent"}),
        Returns(error="no device {name}"),
    ),
)
RESTART = Tool(arguments={"name": TEXT}, write=True, guarded=True, returns=(Returns(result={"status": "restarted"}),))


def gave(looked):
    return json.loads(looked.result)


def test_the_first_answer_whose_conditions_hold_is_given():
    world = play(status=STATUS, restart=RESTART)
    assert gave(world.call("status", {"name": "bell"})) == {"state": "silent"}
    assert world.call("status", {"name": "drum"}).error == "no device drum"


def test_a_guarded_write_is_proposed_and_changes_nothing():
    world = play(status=STATUS, restart=RESTART)
    proposed = world.call("restart", {"name": "bell"})
    assert proposed.pending
    assert gave(proposed)["status"] == AWAITING
    assert set(gave(proposed)) == {"status", "detail"}
    assert gave(world.call("status", {"name": "bell"})) == {"state": "silent"}


def test_an_approved_write_runs_with_its_approver_in_the_audit_row():
    world = play(status=STATUS, restart=RESTART)
    done = world.decide(ToolCall("restart", {"name": "bell"}, id="w-1"), YES)
    audit = {"tool": "restart", "arguments": {"name": "bell"}, "approver": "Ines", "rationale": "customers wait"}
    assert (done.id, done.error) == ("w-1", None)
    assert json.loads(done.result) == {"status": "restarted", "audit": audit}
    assert gave(world.call("status", {"name": "bell"})) == {"state": "ringing"}


def test_a_refused_write_does_not_run():
    world = play(status=STATUS, restart=RESTART)
    refused = world.decide(ToolCall("restart", {"name": "bell"}, id="w-1"), Step(approve=False, approver="Ines"))
    assert (refused.id, refused.result, refused.error) == ("w-1", None, "refused by Ines")
    assert gave(world.call("status", {"name": "bell"})) == {"state": "silent"}


def test_a_write_to_one_thing_does_not_change_another():
    status = Tool(arguments={"name": TEXT}, returns=(Returns(after="restart", result="new"), Returns(result="old")))
    world = play(status=status, restart=RESTART)
    world.decide(ToolCall("restart", {"name": "drum"}), YES)
    assert [gave(world.call("status", {"name": name})) for name in ("bell", "drum")] == ["old", "new"]


def test_a_write_that_failed_did_not_happen():
    broken = RESTART.model_copy(update={"returns": (Returns(error="the panel is locked"),)})
    world = play(status=STATUS, restart=broken)
    failed = world.decide(ToolCall("restart", {"name": "bell"}), YES)
    assert (failed.result, failed.error) == (None, "the panel is locked")
    assert gave(world.call("status", {"name": "bell"})) == {"state": "silent"}


def test_worlds_of_one_run_know_nothing_of_each_other():
    tools = PlayedTools({"status": STATUS, "restart": RESTART})
    first, second = tools.begin(), tools.begin()
    first.decide(ToolCall("restart", {"name": "bell"}), YES)
    assert gave(second.call("status", {"name": "bell"})) == {"state": "silent"}


def test_texts_are_filled_in_everywhere_and_unknown_places_stay():
    returns = Returns(result={"by": "{approver}: {rationale}", "list": ["{name}", 3, None], "as": "{is} {count}"})
    tool = RESTART.model_copy(update={"returns": (returns,), "arguments": {"name": TEXT, "count": {"type": "integer"}}})
    done = json.loads(play(r=tool).decide(ToolCall("r", {"name": "bell", "count": 2}), YES).result)
    assert (done["by"], done["list"], done["as"]) == ("Ines: customers wait", ["bell", 3, None], "{is} 2")


def test_an_argument_cannot_name_the_approver():
    tool = Tool(write=True, guarded=True, returns=(Returns(result={"by": "{approver}"}),))
    done = json.loads(play(r=tool).decide(ToolCall("r", {"approver": "the model"}), YES).result)
    assert (done["by"], done["audit"]["approver"]) == ("Ines", "Ines")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "argument 'name' is missing"),
        ({"name": 5}, "argument 'name': 5 is not of type 'string'"),
        ({"name": "bell", "force": True}, "it takes no argument 'force'"),
    ],
)
def test_wrong_arguments_give_an_error_and_no_proposal(arguments, said):
    looked = play(restart=RESTART).call("restart", arguments)
    assert said in looked.error
    assert not looked.pending


def test_an_argument_whose_schema_is_none_is_refused_before_anything_runs():
    with pytest.raises(InputError, match="tool 'look', argument 'at': no JSON Schema: type: 'txt' is not valid"):
        PlayedTools({"look": Tool(arguments={"at": {"type": "txt"}})})


def test_an_unknown_tool_gives_an_error_that_names_the_known():
    assert play(status=STATUS).call("rm", {}).error == "unknown tool 'rm'; known: status"


def test_an_argument_with_a_default_may_be_left_out():
    tool = Tool(arguments={"limit": {"type": "integer", "default": 5}}, returns=(Returns(when={"limit": 5}, result=1),))
    assert gave(play(read=tool).call("read", {})) == 1
    assert "has nothing for" in play(read=tool).call("read", {"limit": 6}).error
    assert PlayedTools({"read": tool}).specs[0]["function"]["parameters"]["required"] == []


def test_a_tool_without_answers_gives_null_and_its_approved_write_says_done():
    tool = Tool(write=True, guarded=True)
    assert play(look=Tool()).call("look", {"any": 1}).result == "null"
    assert json.loads(play(do=tool).decide(ToolCall("do", {}), YES).result)["status"] == "done"


def test_the_digest_follows_what_a_tool_gives():
    one, other = (PlayedTools({"t": Tool(returns=(Returns(result=n),))}).digest for n in (1, 2))
    assert one != other
    assert PlayedTools({}).digest == ""


@given(st.dictionaries(st.text(), st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists)))
def test_whatever_a_model_sends_gives_a_result_or_an_error(arguments):
    world = play(status=STATUS, restart=RESTART, free=Tool(returns=(Returns(result="{name}"),)))
    for name in ("status", "restart", "free", "rm"):
        looked = world.call(name, arguments)
        assert (looked.result is None) != (looked.error is None)


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"pattern": "(?=a)a"}, "look-around"),
        ({"$ref": "http://127.0.0.1:9/schema.json"}, "points outside the schema"),
    ],
)
def test_a_schema_that_could_hang_or_fetch_is_refused(schema, message):
    with pytest.raises(InputError, match=f"tool 'look', argument 'at': .*{message}"):
        PlayedTools({"look": Tool(arguments={"at": schema})})


def test_a_hostile_pattern_of_an_argument_is_answered_at_once():
    play = PlayedTools({"look": Tool(arguments={"at": {"type": "string", "pattern": "^(a+)+$"}})}).begin()
    assert "does not match" in play.call("look", {"at": "a" * 5_000 + "!"}).error
