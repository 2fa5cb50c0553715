//! The format of profiles.

use dahl_plan::pipeline::{Error, Profile};

const TEXT: &str = "\
node2 -- Conv2d(3, 64, kernel_size=(3, 3)) -- forward_compute_time=13.5, backward_compute_time=33.25, activation_size=16.0, parameter_size=8.0
node1 -- Input -- forward_compute_time=17.0, backward_compute_time=0.0, activation_size=77.0, parameter_size=0.0
node3 -- LSTM(4) -- forward_compute_time=1.0, backward_compute_time=2.0, activation_size=[4.0; 6.0], parameter_size=0.0 -- stage_id=1
node4 -- __getitem__(1) -- forward_compute_time=0.0, backward_compute_time=0.0, activation_size=4.0, parameter_size=0.0

\tnode1 -- node2
\tnode2 -- node3
\tnode3 -- node4
";

#[test]
fn a_text_is_read_without_inputs_and_unused_items() {
    let profile = Profile::parse(TEXT).expect("it is valid");
    let [convolution, recurrent] = &profile.layers[..] else { panic!("two layers are left: {profile:?}") };
    assert_eq!(convolution.name, "Conv2d(3, 64, kernel_size=(3, 3))");
    assert_eq!((convolution.forward_seconds, convolution.backward_seconds), (0.0135, 0.03325));
    assert_eq!((convolution.activation_bytes, convolution.parameter_bytes), (16.0, 8.0));
    assert_eq!(recurrent.activation_bytes, 10.0);
    assert_eq!(profile.edges, [(0, 1)]);
}

#[test]
fn wrong_lines_are_named() {
    let refused = |text: &str| Profile::parse(text).expect_err("it is refused");
    let wrong = |line, text: &str| Error::Line { line, text: text.to_owned() };
    assert_eq!(refused("a\n"), wrong(1, "a"));
    assert_eq!(
        refused("\na -- b -- forward_compute_time=1.0"),
        wrong(2, "a -- b -- forward_compute_time=1.0")
    );
    let line = TEXT.lines().next().expect("it has lines");
    assert_eq!(refused(&format!("{line}\n{line}")), wrong(2, line));
    assert_eq!(refused(&line.replace("13.5", "much")), wrong(1, &line.replace("13.5", "much")));
    let edge = format!("{line}\n\tnode2 -- node9");
    assert_eq!(refused(&edge), Error::Unknown { line: 2, layer: "node9".to_owned() });
}
