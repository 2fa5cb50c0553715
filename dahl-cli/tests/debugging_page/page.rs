//! [`Page`]: the commands in a Markdown page, and their output there.

/// The commands of a page.
pub(crate) struct Page {
    pub(crate) sections: Vec<Section>,
}

/// The content below a heading.
pub(crate) struct Section {
    pub(crate) title: String,
    pub(crate) blocks: Vec<Block>,
}

/// The content between two fences.
pub(crate) enum Block {
    /// ` ```console `: commands, each after a `$`, with their output. With ` ```console exact ` figures must agree.
    Commands { commands: Vec<Command>, is_exact: bool },
    /// ` ```toml NAME `: a file.
    File { name: String, text: String },
}

/// A command, and its output.
pub(crate) struct Command {
    pub(crate) text: String,
    pub(crate) output: Vec<String>,
}

impl Page {
    pub(crate) fn parse(text: &str) -> Self {
        let mut sections = vec![Section { title: "the beginning".to_owned(), blocks: Vec::new() }];
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if let Some(title) = line.strip_prefix("## ") {
                sections.push(Section { title: title.to_owned(), blocks: Vec::new() });
            }
            if let Some(language) = line.strip_prefix("```") {
                let inside: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
                let section = sections.last_mut().expect("there is one from the start");
                section.blocks.extend(Block::parse(language, &inside));
            }
        }
        Self { sections }
    }

    /// The files on the page, with their contents.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.sections.iter().flat_map(|section| &section.blocks).filter_map(|block| match block {
            Block::File { name, text } => Some((name.as_str(), text.as_str())),
            Block::Commands { .. } => None,
        })
    }
}

impl Section {
    pub(crate) fn has_commands(&self) -> bool {
        self.blocks.iter().any(|block| matches!(block, Block::Commands { .. }))
    }
}

impl Block {
    /// None if it is neither commands nor a file.
    fn parse(language: &str, lines: &[&str]) -> Option<Self> {
        match language.split_once(' ').unwrap_or((language, "")) {
            ("console", how) => Some(Self::Commands { commands: commands(lines), is_exact: how == "exact" }),
            ("toml", name) if !name.is_empty() => {
                let text = lines.iter().map(|line| format!("{line}\n")).collect();
                Some(Self::File { name: name.to_owned(), text })
            }
            _ => None,
        }
    }
}

fn commands(lines: &[&str]) -> Vec<Command> {
    let mut commands: Vec<Command> = Vec::new();
    for line in lines {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(text), _) => commands.push(Command { text: text.to_owned(), output: Vec::new() }),
            (None, Some(command)) if command.text.ends_with('\\') => {
                command.text.pop();
                command.text.push_str(line.trim_start());
            }
            (None, Some(command)) => match command.output.last_mut() {
                Some(broken) if broken.ends_with('\\') => {
                    broken.pop();
                    broken.push_str(line);
                }
                _ => command.output.push((*line).to_owned()),
            },
            (None, None) => panic!("a block of commands begins with `$ `, not with {line:?}"),
        }
    }
    commands
}
