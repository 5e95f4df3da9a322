"""Talks to the daemon through Python's varlink, as a program in any language would: client.py ADDRESS SCENARIO"""

import json
import sys

import varlink

# The library drops named arguments that follow positional ones, so calls have either.
GROUP = "group.com.example.app"
INTERFACE = "io.appgroupd.Settings"


def info(client, settings):
    found = client.get_interfaces()
    assert sorted(found) == [INTERFACE, "org.varlink.service"], sorted(found)
    assert client.info["product"] == "appgroupd", client.info
    for field in ("vendor", "version", "url"):
        assert client.info[field], client.info


def introspection(client, settings):
    interface = client.get_interface(INTERFACE)
    assert interface.name == INTERFACE
    members = interface.members
    for name in ("Read", "Write", "Watch", "Value", "Commit", "NoSuchGroup", "Conflict"):
        assert name in members, sorted(members)
    assert "Who made a commit" in interface.description
    service = client.get_interface("org.varlink.service")
    assert "GetInterfaceDescription" in service.members


def read_and_write(client, settings):
    settings.CreateGroup(GROUP)
    values = {
        "text": {"string": "Grüße \U0001f642 \" \\ \n"}, "integer": {"integer": -(2**63)}, "real": {"real": 0.1},
        "flag": {"boolean": False}, "date": {"date": "2026-01-02T03:04:05.000006Z"}, "data": {"data": "AAEC/w=="},
        "number": {"number": "18446744073709551615"},
        "list": {"array": [{"integer": 1}, {"array": []}, {"dictionary": {}}]},
        "": {"dictionary": {"a.b": {"string": ""}, "@": {"real": 1.0}}},
    }
    edits = [{"key": key, "value": value} for key, value in values.items()]
    written = settings.Write(GROUP, edits)
    assert sorted(written["changed"]) == sorted(values), written
    assert written["position"]["revision"] == 1, written
    read = settings.Read(group=GROUP)
    assert read["position"] == written["position"]
    compare(values, read["values"])
    some = settings.Read(GROUP, ["te*", "f???"])["values"]
    assert sorted(some) == ["flag", "text"], some
    again = settings.Write(GROUP, edits)
    assert again["changed"] == [] and again["position"] == written["position"], again
    gone = settings.Write(group=GROUP, edits=[{"key": "text"}], tag="python")
    assert gone["changed"] == ["text"] and gone["position"]["revision"] == 2, gone
    commits = settings.History(group=GROUP, limit=1)["commits"]
    assert commits[0]["origin"]["tag"] == "python", commits
    settings.Synchronize(GROUP)
    assert settings.ListGroups() == {"groups": [GROUP]}


def bare(value):
    """The library fills absent nullable fields with None."""
    if isinstance(value, dict):
        return {key: bare(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [bare(item) for item in value]
    return value


def compare(wanted, found):
    # As text, since for Python 1 == 1.0 == True.
    found, wanted = (json.dumps(bare(values), sort_keys=True, indent=1) for values in (found, wanted))
    assert found == wanted, found


def watch(client, settings):
    settings.CreateGroup(GROUP)
    settings.Write(GROUP, [{"key": "theme", "value": {"string": "light"}}])
    with client.open(INTERFACE) as watcher:
        replies = watcher.Watch([{"group": GROUP}], _more=True)
        snapshot = bare(next(replies))["snapshot"]
        assert snapshot["reason"] == "initial", snapshot
        assert snapshot["values"] == {"theme": {"string": "light"}}, snapshot
        for number in range(2, 12):
            settings.Write(group=GROUP, edits=[{"key": "theme", "value": {"integer": number}}], tag="t%d" % number)
            commit = bare(next(replies))["commit"]
            assert commit["revision"] == number and commit["origin"]["kind"] == "client", commit
            assert commit["origin"]["tag"] == "t%d" % number, commit
            assert commit["changes"][0]["new"] == {"integer": number}, commit
            assert commit["changes"][0]["old"], commit
    with client.open(INTERFACE) as watcher:
        since = dict(snapshot["position"], revision=9)
        replies = watcher.Watch([{"group": GROUP, "keys": ["th*"], "since": since}], _more=True)
        assert [bare(next(replies))["commit"]["revision"] for _ in range(2)] == [10, 11]


def failure(name, call, *arguments, **named):
    try:
        call(*arguments, **named)
    except varlink.VarlinkError as error:
        assert error.error() == name, error.as_dict()
        return error.parameters()
    raise AssertionError("no %s" % name)


def errors(client, settings):
    own = INTERFACE + "."
    missing = failure(own + "NoSuchGroup", settings.Read, GROUP)
    assert missing == {"group": GROUP}, missing
    failure(own + "InvalidGroup", settings.CreateGroup, "../etc")
    settings.CreateGroup(GROUP)
    settings.Write(GROUP, [{"key": "name", "value": {"string": "x"}}])
    wrong = failure(own + "WrongType", settings.Write, GROUP,
                    [{"key": "name", "operation": "increment", "value": {"integer": 1}}])
    assert wrong["key"] == "name", wrong
    conflict = failure(own + "Conflict", settings.Write, GROUP, [{"key": "name", "value": {"string": "y"}}], 0)
    assert conflict == {"keys": ["name"], "revision": 1}, conflict
    failure(own + "InvalidKey", settings.Write, GROUP, [{"key": "k" * 1025, "value": {"integer": 1}}])
    failure(own + "InvalidValue", settings.Write, GROUP, [{"key": "bell", "value": {"string": "\a"}}])
    failure(own + "TooLarge", settings.Write, GROUP, [{"key": "large", "value": {"string": "x" * (1 << 20)}}])
    failure("org.varlink.service.ExpectedMore", settings.Watch, [{"group": GROUP}])
    failure(own + "InvalidValue", settings.Write, GROUP, [{"key": "none", "value": {}}])
    two = {"integer": 1, "boolean": True}
    failure(own + "InvalidValue", settings.Write, GROUP, [{"key": "two", "value": two}])
    refused = raw(client, {"method": own + "Read", "parameters": {"group": 5}}, "org.varlink.service.InvalidParameter")
    assert refused == {"parameter": "group"}, refused
    raw(client, {"method": own + "Nothing"}, "org.varlink.service.MethodNotFound")
    raw(client, {"method": "org.example.Nothing"}, "org.varlink.service.InterfaceNotFound")
    # The connection outlives them all.
    assert settings.Read(GROUP)["position"]["revision"] == 1


def raw(client, message, error):
    """What the library itself would not send."""
    with client.open(INTERFACE) as connection:
        connection._send_message(json.dumps(message).encode())
        try:
            connection._next_varlink_message()
        except varlink.VarlinkError as caught:
            assert caught.error() == error, caught.as_dict()
            return caught.parameters()
    raise AssertionError("no %s" % error)


def oneway(client, settings):
    settings.CreateGroup(GROUP)
    for number in range(50):
        settings.Write(GROUP, [{"key": "n", "value": {"integer": number}}], _oneway=True)
    # An error of one is not sent either, and the replies stay in step.
    settings.Write("group.com.example.other", [], _oneway=True)
    read = settings.Read(GROUP)
    assert bare(read["values"]) == {"n": {"integer": 49}} and read["position"]["revision"] == 50, read


def main():
    address, scenario = sys.argv[1:]
    with varlink.Client.new_with_address(address) as client, client.open(INTERFACE) as settings:
        globals()[scenario](client, settings)


main()
