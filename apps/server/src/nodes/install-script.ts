import { powershellScript } from './install-powershell.ts'
import { shellScript } from './install-shell.ts'
import { type ScriptValues, scriptUrl } from './install-values.ts'
import { powershellLiteral, shellWord } from './shell-quoting.ts'

/**
 * The command that users copy. The token is in a header, never in the address, and in no process list: printf is part
 * of the shell, and curl reads the header from its standard input. The leading space keeps the line out of the history
 * of shells that skip such lines; PowerShell skips lines that assign to a variable with this name.
 */
export function installCommand(
  scriptType: 'shell' | 'powershell',
  values: Pick<ScriptValues, 'url' | 'teamSlug' | 'nodeId' | 'token'>,
): string {
  const address = scriptUrl(values)
  return scriptType === 'shell'
    ? ` printf 'header = "Authorization: Bearer %s"\\n' ${shellWord(values.token)} | curl -fsSL --config - ${shellWord(address)} | sh`
    : `$token = ${powershellLiteral(values.token)}; Invoke-RestMethod -Headers @{ Authorization = "Bearer $token" } -Uri ${powershellLiteral(address)} | Invoke-Expression`
}

export const installScript = (scriptType: 'shell' | 'powershell', values: ScriptValues): string =>
  scriptType === 'shell' ? shellScript(values) : powershellScript(values)
