extension Verb {
    /// Lines of the shell to begin with, at least one a verb.
    package var examples: [String] { Self.examples[name] ?? [] }

    private static let examples: [String: [String]] = [
        "list": ["appgroupctl list"],
        "create": ["appgroupctl create group.com.example.app"],
        "read": [
            "appgroupctl read group.com.example.app",
            "appgroupctl read group.com.example.app theme",
            "appgroupctl read group.com.example.app --json | jq .window.width",
            "appgroupctl read group.com.example.app --at 2026-11-30",
        ],
        "read-type": ["appgroupctl read-type group.com.example.app theme"],
        "write": [
            "appgroupctl write group.com.example.app theme dark",
            "appgroupctl write group.com.example.app size -int 12",
            #"appgroupctl write group.com.example.app window -json '{"width": 640}'"#,
            "appgroupctl write group.com.example.app recent -array-add notes.txt",
        ],
        "increment": [
            "appgroupctl increment group.com.example.app starts",
            "appgroupctl increment group.com.example.app volume -0.1",
        ],
        "toggle": ["appgroupctl toggle group.com.example.app dark-mode"],
        "get-and-set": ["appgroupctl get-and-set group.com.example.app lock -string mine"],
        "try": ["appgroupctl try group.com.example.app scale -float 1.5 --for 30s"],
        "keep": [
            "revision=$(appgroupctl try group.com.example.app scale -float 1.5)",
            "appgroupctl keep group.com.example.app $revision",
        ],
        "rename": ["appgroupctl rename group.com.example.app colour color"],
        "delete": ["appgroupctl delete group.com.example.app theme"],
        "delete-all": ["appgroupctl delete-all group.com.example.app"],
        "delete-group": ["appgroupctl delete-group group.com.example.app"],
        "find": ["appgroupctl find dark"],
        "explain": ["appgroupctl explain group.com.example.app theme"],
        "describe": [
            "appgroupctl describe group.com.example.app",
            "appgroupctl describe group.com.example.app theme",
        ],
        "watch": [
            "appgroupctl watch group.com.example.app",
            "appgroupctl watch group.com.example.app 'ui.*' --json",
            #"appgroupctl watch group.com.example.app --exec 'notify-send "$APPGROUP_KEY" "$APPGROUP_NEW"'"#,
        ],
        "wait": ["appgroupctl wait group.com.example.app ready true --timeout 10"],
        "top": [
            "appgroupctl top",
            "appgroupctl top --json | head",
        ],
        "history": ["appgroupctl history group.com.example.app --limit 10"],
        "log": ["appgroupctl log group.com.example.app theme"],
        "blame": ["appgroupctl blame group.com.example.app"],
        "show": ["appgroupctl show group.com.example.app 17"],
        "diff": ["appgroupctl diff group.com.example.app 12 17"],
        "undo": [
            "appgroupctl undo group.com.example.app 17",
            "appgroupctl undo group.com.example.app --since 5min --dry-run",
        ],
        "import": ["appgroupctl import group.com.example.app saved.plist --replace --dry-run"],
        "export": [
            "appgroupctl export group.com.example.app saved.plist",
            "appgroupctl export group.com.example.app - --format json | jq .",
        ],
        "apply": ["appgroupctl apply group.com.example.app wanted.json --check"],
        "edit": ["EDITOR=nano appgroupctl edit group.com.example.app"],
        "backup": ["appgroupctl backup settings.json"],
        "restore": ["appgroupctl restore group.com.example.app settings.json --dry-run"],
        "link": ["appgroupctl link group.com.example.app"],
        "unlink": ["appgroupctl unlink group.com.example.app"],
        "status": ["appgroupctl status"],
        "check": [
            "appgroupctl check",
            "appgroupctl check ./group.com.example.app.plist",
        ],
        "cat-config": ["appgroupctl cat-config"],
        "log-level": ["appgroupctl log-level debug"],
        "repair": ["appgroupctl repair group.com.example.app"],
        "sync": ["appgroupctl sync group.com.example.app"],
        "completions": [". <(appgroupctl completions bash)"],
        "help": ["appgroupctl help write"],
    ]
}
