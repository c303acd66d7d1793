import type { HookKind, RegistryType } from '@crux/contract'
import { parseRegistryUrl } from './registry-url.ts'

/** Its registry sends no notifications that a user could configure. */
const gitlabCom = /(^|\.)gitlab\.com$/

/** The hooks with which a registry can report pushes; none where the service offers none, or where Crux never asks it. */
export function offeredHookKinds({ type, url }: { type: RegistryType; url: string }): readonly HookKind[] {
  if (type === 'hub') return ['hub']
  if (type === 'github') return ['github']
  if (type === 'v2') return ['v2', 'harbor']
  return type === 'gitlab' && !isGitlabCom(url) ? ['v2', 'harbor'] : []
}

function isGitlabCom(url: string): boolean {
  const parsed = parseRegistryUrl(url)
  return !parsed.ok || gitlabCom.test(parsed.address.hostname.toLowerCase())
}
