import { powershellScript } from './install-powershell.ts'
import { shellScript } from './install-shell.ts'
import { type ScriptValues, scriptUrl } from './install-values.ts'
import { powershellLiteral, shellWord } from './shell-quoting.ts'

/** The line that a person copies. The token is in a header, never in the address (security.md 12). */
export function installCommand(scriptType: 'shell' | 'powershell', values: ScriptValues): string {
  const address = scriptUrl(values)
  return scriptType === 'shell'
    ? `curl -fsSL -H ${shellWord(`Authorization: Bearer ${values.token}`)} ${shellWord(address)} | sh`
    : `Invoke-RestMethod -Headers @{ Authorization = ${powershellLiteral(`Bearer ${values.token}`)} } -Uri ${powershellLiteral(address)} | Invoke-Expression`
}

export const installScript = (scriptType: 'shell' | 'powershell', values: ScriptValues): string =>
  scriptType === 'shell' ? shellScript(values) : powershellScript(values)
