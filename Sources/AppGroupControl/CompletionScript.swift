/// What a shell loads to complete the tool's words. All that it knows it asks `appgroupctl complete`.
enum CompletionScript: String, CaseIterable {
    case bash, zsh, fish

    var text: String {
        switch self {
        case .bash:
            """
            # bash completion for appgroupctl
            _appgroupctl() {
                local word
                COMPREPLY=()
                while IFS= read -r word; do
                    printf -v word '%q' "$word"
                    COMPREPLY+=("$word")
                done < <("${COMP_WORDS[0]}" complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
            }
            complete -o default -F _appgroupctl appgroupctl

            """
        case .zsh:
            """
            #compdef appgroupctl
            local output
            output=$(${words[1]} complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)
            if [[ -n $output ]]; then
                local -a candidates
                candidates=("${(@f)output}")
                compadd -a candidates
            else
                _files
            fi

            """
        case .fish:
            """
            # fish completion for appgroupctl
            function __appgroupctl_complete
                set -l words (commandline -opc)
                set -l candidates (command $words[1] complete -- $words[2..-1] (commandline -ct) 2>/dev/null)
                if count $candidates >/dev/null
                    printf '%s\\n' $candidates
                else
                    __fish_complete_path (commandline -ct)
                end
            end
            complete -c appgroupctl -f -a '(__appgroupctl_complete)'

            """
        }
    }
}
