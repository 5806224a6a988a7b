"""What the literal Human makes of plain English."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iwreplay.actions.grammar import parse_command
from iwreplay.actions.refusal import RefusedError
from iwreplay.actions.table import PRIMITIVES
from recorder.humans import interpret
from recorder.humans.words import words_of

#: canonical primitive -> (sentence, what is held, commands)
SAYABLE: dict[str, list[tuple[str, str, list[str]]]] = {
    "navigate_to": [
        ("Walk to the sink.", "", ["[Walk] sink"]),
        ("Please go over to the kitchen table.", "", ["[Walk] kitchen table"]),
        ("Run to the front door!", "", ["[Run] front door"]),
        ("Go back into the kitchen.", "", ["[Walk] kitchen"]),
        ("Approach the blue cabinet.", "", ["[Walk] blue cabinet"]),
        ("Head towards the fridge on your left.", "", ["[Walk] left fridge"]),
        ("Stand in front of the oven.", "", ["[Walk] oven"]),
    ],
    "forward": [
        ("Go forward two steps.", "", ["[Forward] 1"]),
        ("Walk forward half a metre.", "", ["[Forward] 0.5"]),
        ("Take one step forward.", "", ["[Forward] 0.5"]),
        ("Move 1.5 meters forward.", "", ["[Forward] 1.5"]),
        ("Walk straight ahead.", "", ["[Forward]"]),
        ("Take a step back.", "", ["[Forward] -0.5"]),
    ],
    "turn": [
        ("Turn left 90 degrees.", "", ["[TurnLeft] 90"]),
        ("Turn to your right.", "", ["[TurnRight]"]),
        ("Turn around.", "", ["[TurnAround]"]),
        ("Turn 45 degrees to the left.", "", ["[TurnLeft] 45"]),
        ("Now turn right by forty-five degrees.", "", ["[TurnRight] 45"]),
        ("Turn right a bit.", "", ["[TurnRight] 30"]),
        ("Turn slightly left.", "", ["[TurnLeft] 30"]),
        ("Make a quarter turn to the left.", "", ["[TurnLeft] 90"]),
    ],
    "sit": [
        ("Sit down on the sofa.", "", ["[Sit] sofa"]),
        ("Take a seat on the wooden chair.", "", ["[Sit] wooden chair"]),
    ],
    "standup": [("Stand up.", "", ["[StandUp]"]), ("Get up from the chair.", "", ["[StandUp]"])],
    "face": [
        ("Turn to face the window.", "", ["[Face] window"]),
        ("Face the shelf.", "", ["[Face] shelf"]),
        ("Turn towards the door.", "", ["[Face] door"]),
    ],
    "look_at": [
        ("Look at the price card.", "", ["[LookAt] price card"]),
        ("Point at the red box.", "", ["[PointAt] red box"]),
        ("Have a look inside the cupboard.", "", ["[LookAt] cupboard"]),
    ],
    "scan": [
        ("Look around.", "", ["[Scan]"]),
        ("Scan the room.", "", ["[Scan]"]),
        ("Look around 180 degrees.", "", ["[Scan] 180"]),
        ("Look around the kitchen.", "", ["[Scan]"]),
    ],
    "read": [
        ("Read the note on the board.", "", ["[Read] note on board"]),
        ("Read the label on the jar.", "", ["[Read] jar"]),
        ("Read the expiry date of the milk carton aloud.", "", ["[Read] milk carton"]),
        ("Inspect the recipe card.", "", ["[Read] recipe card"]),
        ("Read it to me.", "yellow note", ["[Read] yellow note"]),
    ],
    "touch": [
        ("Touch the metal plate with the magnet.", "magnet", ["[Touch] metal plate"]),
        ("Put your hand on the handle.", "", ["[Touch] handle"]),
        ("Feel the bottle.", "", ["[Touch] bottle"]),
    ],
    "wait": [
        ("Wait ten seconds.", "", ["[Wait] 10"]),
        ("Wait for half a minute.", "", ["[Wait] 30"]),
        ("Stay there for five seconds.", "", ["[Wait] 5"]),
        ("Wait a minute.", "", ["[Wait] 60"]),
    ],
    "grab": [
        ("Take the knife.", "", ["[Grab] knife"]),
        ("Pick up the blue mug on the counter.", "", ["[Grab] blue mug on counter"]),
        ("Pick the sponge up.", "", ["[Grab] sponge"]),
        ("Get the milk out of the fridge.", "", ["[Grab] milk in fridge"]),
        ("Take the plate from the shelf.", "", ["[Grab] plate on shelf"]),
        ("Grab the left cup.", "", ["[Grab] left cup"]),
    ],
    "put_on": [
        ("Put the knife back on the counter.", "knife", ["[PutOn] knife, counter"]),
        ("Put it on the plate.", "tomato", ["[PutOn] tomato, plate"]),
        ("Set the glass down on the guest table.", "glass", ["[PutOn] glass, guest table"]),
        ("Place the juice bottle onto the left tray.", "juice bottle", ["[PutOn] juice bottle, left tray"]),
        ("Put that back on the shelf.", "bleach bottle", ["[PutOn] bleach bottle, shelf"]),
    ],
    "put_inside": [
        ("Put the milk in the fridge.", "milk", ["[PutIn] milk, fridge"]),
        ("Put it back into the left cabinet.", "mug", ["[PutIn] mug, left cabinet"]),
        ("Load the towel into the washing machine.", "towel", ["[PutIn] towel, washing machine"]),
        ("Put the can inside the box.", "can", ["[PutIn] can, box"]),
    ],
    "drop": [
        ("Drop the ball.", "ball", ["[Drop] ball"]),
        ("Let go of it.", "cup", ["[Drop] cup"]),
        ("Release the rope.", "rope", ["[Drop] rope"]),
    ],
    "discard": [
        ("Throw the bread away in the trash bin.", "bread", ["[Discard] bread, trash bin"]),
        ("Throw away the mouldy bread in the bin.", "mouldy bread", ["[Discard] mouldy bread, bin"]),
        ("Discard it in the recycling bin.", "can", ["[Discard] can, recycling bin"]),
    ],
    "push": [
        ("Push the box 20 centimetres.", "", ["[Push] box, 0.2"]),
        ("Pull the chair towards you.", "", ["[Pull] chair"]),
        ("Slide the scale by 0.3 m.", "", ["[Slide] scale, 0.3"]),
    ],
    "wear": [
        ("Put on the oven gloves.", "oven gloves", ["[Wear] oven gloves"]),
        ("Put the apron on.", "apron", ["[Wear] apron"]),
        ("Wear the blue coat.", "blue coat", ["[Wear] blue coat"]),
        ("Take off the gloves.", "", ["[TakeOff] gloves"]),
        ("Take your coat off.", "", ["[TakeOff] coat"]),
    ],
    "open": [
        ("Open the left cabinet.", "", ["[Open] left cabinet"]),
        ("Pull the top drawer open.", "", ["[Open] top drawer"]),
        ("Take the lid off the jar.", "", ["[Open] jar"]),
    ],
    "close": [
        ("Close the fridge.", "", ["[Close] fridge"]),
        ("Shut the window.", "", ["[Close] window"]),
        ("Push the drawer shut.", "", ["[Close] drawer"]),
    ],
    "switch_on": [
        ("Turn on the cooktop.", "", ["[SwitchOn] cooktop"]),
        ("Turn the tap on.", "", ["[SwitchOn] tap"]),
        ("Start the washing machine.", "", ["[Start] washing machine"]),
        ("Press the start button on the oven.", "", ["[Press] oven"]),
    ],
    "switch_off": [
        ("Turn off the cooktop.", "", ["[SwitchOff] cooktop"]),
        ("Switch the oven off.", "", ["[SwitchOff] oven"]),
        ("Blow out the candle.", "", ["[SwitchOff] candle"]),
        ("Stop the washer.", "", ["[SwitchOff] washer"]),
    ],
    "lock": [
        ("Lock the locker.", "", ["[Lock] locker"]),
        ("Unlock the cabinet with the key.", "key", ["[Unlock] cabinet"]),
    ],
    "plug": [
        ("Plug in the router.", "", ["[PlugIn] router"]),
        ("Plug the charger into the left socket.", "charger", ["[PlugIn] charger, left socket"]),
        ("Unplug the lamp.", "", ["[PlugOut] lamp"]),
    ],
    "cut": [
        ("Cut the tomato in half.", "knife", ["[Cut] tomato"]),
        ("Slice the bread with the knife.", "knife", ["[Slice] bread"]),
        ("Score an X on the dough.", "knife", ["[Score] dough"]),
        ("Use the knife to cut the tomato.", "knife", ["[Cut] tomato"]),
    ],
    "cook": [
        ("Cook the tomato for 30 seconds.", "", ["[Cook] tomato, 30"]),
        ("Fry the schnitzel.", "", ["[Fry] schnitzel"]),
        ("Let the tomato cook for one minute.", "", ["[Cook] tomato, 60"]),
    ],
    "plate": [
        ("Serve the tomato on the white plate.", "spatula", ["[Plate] tomato, white plate"]),
        ("Plate the schnitzel onto the dish.", "spatula", ["[Plate] schnitzel, dish"]),
        ("Transfer the tomato from the pan to the plate with the spatula.", "spatula", ["[Plate] tomato, plate"]),
    ],
    "pour": [
        ("Pour the water from the bottle into the glass.", "bottle", ["[Pour] bottle, glass"]),
        ("Pour the vodka into the left glass.", "vodka bottle", ["[Pour] vodka bottle, left glass"]),
        ("Pour it into the bowl.", "measuring cup", ["[Pour] measuring cup, bowl"]),
    ],
    "fill": [
        ("Fill the kettle at the tap.", "kettle", ["[Fill] kettle, tap"]),
        ("Fill the glass with water from the kitchen tap.", "glass", ["[Fill] glass, kitchen tap"]),
    ],
    "empty": [
        ("Empty the glass into the sink.", "glass", ["[Empty] glass, sink"]),
        ("Pour it out into the sink.", "drip tray", ["[Empty] drip tray, sink"]),
    ],
    "wash": [
        ("Wash the plate.", "plate", ["[Wash] plate"]),
        ("Rinse the mug in the sink.", "mug", ["[Rinse] mug, sink"]),
        ("Scrub the pan with the brush.", "pan", ["[Scrub] pan"]),
    ],
    "wipe": [
        ("Wipe the table with the sponge.", "sponge", ["[Wipe] table"]),
        ("Wipe down the counter.", "cloth", ["[Wipe] counter"]),
        ("Clean the bench with the cloth.", "cloth", ["[Wipe] bench"]),
    ],
    "sweep": [
        ("Sweep the broken glass into the dustpan.", "broom", ["[Sweep] broken glass, dustpan"]),
        ("Sweep up the crumbs.", "broom", ["[Sweep] crumbs"]),
    ],
    "soak": [
        ("Soak the cloth in the bucket.", "cloth", ["[Soak] cloth, bucket"]),
        ("Dip the sponge into the basin.", "sponge", ["[Soak] sponge, basin"]),
    ],
    "answer_phone": [
        ("Answer the phone.", "", ["[AnswerPhone] phone"]),
        ("Take the call.", "", ["[AnswerPhone] phone"]),
    ],
    "hang_up": [("Hang up.", "", ["[HangUp] phone"]), ("Hang up the phone now.", "", ["[HangUp] phone"])],
}

SEVERAL: list[tuple[str, str, list[str]]] = [
    ("Walk to the sink, then rinse the mug.", "mug", ["[Walk] sink", "[Rinse] mug"]),
    ("Take the knife from the counter and cut the tomato.", "", ["[Grab] knife on counter", "[Cut] tomato"]),
    ("Turn on the tap. Wash it, and turn the tap off.", "mug", ["[SwitchOn] tap", "[Wash] mug", "[SwitchOff] tap"]),
    ("Open the fridge, take the milk and close it.", "", ["[Open] fridge", "[Grab] milk", "[Close] fridge"]),
    ("Walk to the fridge and open it.", "", ["[Walk] fridge", "[Open] fridge"]),
    ("Pick up the mug and put it in the sink.", "", ["[Grab] mug", "[PutIn] mug, sink"]),
    ("Turn on the cooktop and switch it off.", "", ["[SwitchOn] cooktop", "[SwitchOff] cooktop"]),
    ("Go to the table and put it down on the table.", "glass", ["[Walk] table", "[PutOn] glass, table"]),
    ("Open the fridge and the oven.", "", ["[Open] fridge", "[Open] oven"]),
    ("First open the drawer. Then take the spoon out of it.", "", ["[Open] drawer", "[Grab] spoon"]),
    (
        "Put the bread on the board. Take the knife and cut it.",
        "bread",
        ["[PutOn] bread, board", "[Grab] knife", "[Cut] bread"],
    ),
    ("The bread is mouldy, so throw it away in the bin.", "bread", ["[Discard] bread, bin"]),
    ("Don't put that in! Put it back on the shelf.", "salt jar", ["[PutOn] salt jar, shelf"]),
    ("Stop! That is the cleanser. Put it back in the cabinet.", "blue bottle", ["[PutIn] blue bottle, cabinet"]),
    ("Wait, the window is open. Close the window.", "", ["[Close] window"]),
    ("Before you leave, close the fridge.", "", ["[Close] fridge"]),
    ("Great. Now, could you please take the left one?", "", ["[Grab] left one"]),
    ("Take the mug to the table.", "", ["[Grab] mug", "[Walk] table"]),
    ("Carry it to the table and put it there on the table.", "mug", ["[Walk] table", "[PutOn] mug, table"]),
    ("You should walk to the oven because the bread is ready.", "", ["[Walk] oven"]),
    ("Start by walking to the shelf.", "", ["[Walk] shelf"]),
    ("Turn left, go forward one metre and stop.", "", ["[TurnLeft]", "[Forward] 1"]),
    ("Once you are there, open the oven.", "", ["[Open] oven"]),
    ("Take the blue bottle instead, not the red one.", "", ["[Grab] blue bottle"]),
    ("Wait five seconds, then take the pan.", "", ["[Wait] 5", "[Grab] pan"]),
    ("The phone is ringing. Walk to it and answer it.", "", ["[Walk] phone", "[AnswerPhone] phone"]),
    ("Close the washer and press start.", "", ["[Close] washer", "[Press] washer"]),
    ("Take the second mug from the left.", "", ["[Grab] second mug from left"]),
    ("Turn left by 90° and walk 1,5 metres.", "", ["[TurnLeft] 90", "[Forward] 1.5"]),
    ("Pour the milk from the carton in your hand into the bowl.", "carton", ["[Pour] carton, bowl"]),
    ("Place the mug upside down on the rack.", "mug", ["[PutOn] mug, rack"]),
    ("Could you read me what is written on the carton?", "", ["[Read] carton"]),
    ("Reach out to your left and touch the handle.", "", ["[Touch] handle"]),
    ("You picked up the wrong one, put it back on the counter.", "jar", ["[PutOn] jar, counter"]),
    ("Face left and go down the hallway.", "", ["[TurnLeft]", "[Walk] hallway"]),
    ("Put the knife on the counter before you take the phone.", "knife", ["[PutOn] knife, counter"]),
    ("Put it into the top drawer, then close it.", "knife", ["[PutIn] knife, top drawer", "[Close] top drawer"]),
    ("Open the fridge. Put it in the box and close it.", "egg", ["[Open] fridge", "[PutIn] egg, box", "[Close] box"]),
    ("Go to sink, wash mug, dry it.", "", ["[Walk] sink", "[Wash] mug", "[Wipe] mug"]),
    ("Take the old, dry sponge.", "", ["[Grab] old dry sponge"]),
    ("Hmm, I think you should probably take the red mug.", "", ["[Grab] red mug"]),
    ("Let's walk to the sink together.", "", ["[Walk] sink"]),
    ("Open the fridge's door.", "", ["[Open] fridge"]),
    ("Turn a quarter to the right.", "", ["[TurnRight] 90"]),
    ("Could you please walk over to the fridge and open it?", "", ["[Walk] fridge", "[Open] fridge"]),
    ("Would you mind picking up the blue mug for me?", "", ["[Grab] blue mug"]),
    ("Don't pick up the knife, pick up the spoon.", "", ["[Grab] spoon"]),
    ("Hold on, wait five seconds then open the oven.", "", ["[Wait] 5", "[Open] oven"]),
    ("Walk 3m forward and turn right 90°.", "", ["[Forward] 3", "[TurnRight] 90"]),
    ("Get up and walk to the door on your right.", "", ["[StandUp]", "[Walk] right door"]),
    ("Carefully lift the glass and slowly carry it to the table.", "", ["[Grab] glass", "[Walk] table"]),
]


#: (sentence, what is held, what was said before, commands)
PAGES: list[tuple[str, str, str, list[str]]] = [
    ("Turn the page.", "booklet", "", ["[Open] booklet"]),
    ("Turn the page.", "", "Open the green booklet.", ["[Open] green booklet"]),
    ("Turn over the page.", "pen", "Open the manual on the desk. Open the drawer.", ["[Open] manual on desk"]),
    ("Please turn the page of the binder.", "", "", ["[Open] binder"]),
    ("Turn to the next page, please.", "booklet", "", ["[Open] booklet"]),
    ("Go to the next page of the logbook.", "", "", ["[Open] logbook"]),
    ("Next page.", "booklet", "", ["[Open] booklet"]),
    ("Show me the next page.", "booklet", "", ["[Open] booklet"]),
    ("Turn the booklet's page.", "", "", ["[Open] booklet"]),
    ("Turn two pages.", "booklet", "", ["[Open] booklet", "[Open] booklet"]),
    ("Flip the page and read it.", "booklet", "", ["[Open] booklet", "[Read] booklet"]),
    ("Open the booklet at its first page.", "", "", ["[Open] booklet"]),
    ("Go back to the first page.", "booklet", "", ["[Close] booklet", "[Open] booklet"]),
    ("Turn back to the cover.", "booklet", "", ["[Close] booklet"]),
    ("Show me the cover of the booklet.", "", "", ["[Close] booklet"]),
    ("Close the booklet.", "booklet", "", ["[Close] booklet"]),
    ("Close it.", "pen", "Open the booklet.", ["[Close] booklet"]),
]


@pytest.mark.parametrize(("sentence", "holding", "before", "commands"), PAGES)
def test_pages_are_turned(sentence: str, holding: str, before: str, commands: list[str]) -> None:
    understood = interpret(sentence, holding=holding, earlier=[before] if before else [])
    assert list(understood.commands) == commands
    assert understood.reply is None
    assert {parse_command(c).primitive.canonical for c in commands} <= {"open", "close", "read"}


@pytest.mark.parametrize(
    ("canonical", "sentence", "holding", "commands"),
    [(c, *row) for c, rows in SAYABLE.items() for row in rows],
)
def test_every_primitive_is_sayable(canonical: str, sentence: str, holding: str, commands: list[str]) -> None:
    understood = interpret(sentence, holding=holding)
    assert list(understood.commands) == commands
    assert understood.reply is None
    assert {parse_command(c).primitive.canonical for c in understood.commands} == {canonical}


def test_all_36_have_two_sentences() -> None:
    assert set(SAYABLE) == {row.canonical for row in PRIMITIVES}
    assert all(len(rows) >= 2 for rows in SAYABLE.values())


@pytest.mark.parametrize(("sentence", "holding", "commands"), SEVERAL)
def test_several_clauses(sentence: str, holding: str, commands: list[str]) -> None:
    understood = interpret(sentence, holding=holding)
    assert list(understood.commands) == commands
    for command in understood.commands:
        parse_command(command)


@pytest.mark.parametrize(
    "sentence",
    ["Stop!", "Don't pick that up.", "Do not open the oven.", "Well done.", "The red one is salt.",
     "No, leave it there.", "Never mix these.", "Stop right there.", "OK.", "You are holding the wrong glass.",
     "Wait, don't pour that!"],
)  # fmt: skip
def test_what_is_no_order_is_acknowledged_and_nothing_is_done(sentence: str) -> None:
    understood = interpret(sentence, holding="cup")
    assert understood.commands == ()
    assert understood.reply == "OK."


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        ("Juggle the oranges.", "I did not understand"),
        ("Put it down.", "Where exactly should I put it?"),
        ("Throw it away.", "Into which bin?"),
        ("If the milk is fresh, put it in the fridge.", "I can't decide that"),
        ("Take the red or the blue cup.", "I can't choose"),
        ("Wait until the phone rings.", "I can't decide that"),
        ("Which jar has the sugar?", "I can't answer that"),
        ("Sit down.", "On what should I sit?"),
        ("Put it on the shelf.", 'What do you mean by "it"?'),
        ("Look for the phone.", "I can't search by myself"),
        ("Check whether the oven is off.", "I can't judge that by myself"),
        ("Wring it out.", "I did not understand"),
        ("Put it in the used bin.", 'What do you mean by "it"?'),
        ("Fill the kettle.", "From what should I fill it?"),
        ("Go back a page.", "I can't turn back"),
        ("Turn back one page.", "I can't turn back"),
        ("Go to the previous page of the booklet.", "I can't turn back"),
        ("Turn to page 3.", "I turn one page after the other"),
        ("Read the next page.", "I read the page that shows"),
        ("Turn the page.", 'What do you mean by "it"?'),
        ("Clean the mug.", "Should I wash it or wipe it?"),
        ("Take everything off the table.", "One thing at a time, please"),
        ("Put both plates on the table.", "One thing at a time, please"),
        ("Pick up the apple and the banana.", "One thing at a time, please"),
        ("Can you see the blue mug?", "I can't answer that"),
        ("Is the oven on?", "I can't answer that"),
        ("Has the water boiled?", "I can't answer that"),
        ("After you wash the mug, put it on the table.", "I can't decide that"),
        ("Before you open the oven, turn it off.", "I can't decide that"),
        ("Stand between the two chairs.", "I can go to one thing only"),
        ("Do whatever you think is best.", "I can't decide that"),
        ("Make a sandwich.", "I did not understand"),
        ("Set the table.", "Where exactly should I put it?"),
        ("Find the vodka.", "I can't search by myself"),
        ("Make sure the oven is off.", "I can't judge that by myself"),
        ("Take two steps to the left.", "I can't step sideways"),
        ("Put it back where you found it.", "Where exactly should I put it?"),
        ("Plese pick up teh blue mug.", "I did not understand"),
        ("Wlk to the sink.", "I did not understand"),
        ("Swith on the lamp.", "I did not understand"),
    ],
)
def test_what_is_not_understood_is_asked_back(sentence: str, question: str) -> None:
    understood = interpret(sentence)
    assert understood.commands == ()
    assert understood.reply is not None
    assert understood.reply.startswith(question)


def test_orders_after_one_that_is_not_understood_are_not_carried_out() -> None:
    understood = interpret("Walk to the sink. Juggle the mug. Open the drawer.")
    assert understood.commands == ("[Walk] sink",)
    assert understood.reply == 'I did not understand: "juggle the mug"'


def test_it_refers_back_to_what_was_spoken_of_before() -> None:
    assert interpret("Take it.", earlier=["Look at the blue box."]).commands == ("[Grab] blue box",)
    assert interpret("Close it again.", holding="milk", earlier=["Open the fridge and take the milk."]).commands == (
        "[Close] fridge",
    )
    assert interpret("Switch it off.", earlier=["Turn on the cooktop.", "Look at the pan."]).commands == (
        "[SwitchOff] cooktop",
    )
    assert interpret("Take the other one.", earlier=["Look at the red mug on the shelf."]).commands == (
        "[Grab] other mug",
    )


def test_words_to_be_said_are_said() -> None:
    understood = interpret("Say 'three boxes, please'.")
    assert understood == interpret('Say "three boxes, please".')
    assert understood.commands == ()
    assert understood.reply == "Three boxes, please."
    assert interpret("Tell the caller that I am late.").reply == "I am late."


def test_what_is_held_can_be_asked_for() -> None:
    assert interpret("What are you holding?", holding="blue mug").reply == "I am holding the blue mug."
    assert interpret("What are you holding?").reply == "I am holding nothing."


def test_a_second_plate_is_not_a_duration() -> None:
    assert interpret("Take a second plate.").commands == ("[Grab] second plate",)


@pytest.mark.parametrize(
    "junk", ["", "   ", "...", "?!", "#12 /World/mug", "[Walk] sink", "and and and", "\n\n", "ß" * 500]
)
def test_junk_never_raises(junk: str) -> None:
    understood = interpret(junk)
    assert understood.reply is None or isinstance(understood.reply, str)


_WORDS = words_of(
    """
    walk take put turn on off left right the a mug fridge it that and then in to from with don't if 30 seconds two
    steps open close pour into glass read label of say or until is you , . ! ? ' " [ ] one wipe back down
    """
)


@given(st.lists(st.sampled_from(_WORDS), max_size=14).map(" ".join) | st.text(max_size=60))
@settings(max_examples=300, deadline=None)
def test_any_words_give_commands_or_a_reply(text: str) -> None:
    understood = interpret(text, holding="mug", earlier=[text])
    assert understood.commands or understood.reply
    for command in understood.commands:
        assert _refusal(command) in (None, "PARSE", "BAD_NUMBER", "FORBIDDEN_REF")


def _refusal(command: str) -> str | None:
    """Why a command does not parse: too many words, or a number out of range. Then nothing happens."""
    try:
        parse_command(command)
    except RefusedError as refused:
        return refused.refusal.code
    return None
