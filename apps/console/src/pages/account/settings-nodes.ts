import type { Flow } from '../../api/identity.ts'
import { textAt } from '../../api/unknown-data.ts'

/** `last`: it is the only way to sign in, and stays. */
export type Key = { id: string; name: string; addedAt: string | undefined; last: boolean }

/** Keys or passkeys that can be removed: nodes whose label has their name and time. */
export function getKeys(flow: Flow | undefined, field: 'webauthn_remove' | 'passkey_remove'): Key[] {
  return (flow?.ui.nodes ?? []).flatMap(({ attributes, meta }) => {
    if (!('name' in attributes) || attributes.name !== field || typeof attributes.value !== 'string') return []
    const context = meta.label?.context
    return [
      {
        id: attributes.value,
        name: textAt(context, 'display_name') ?? '',
        addedAt: textAt(context, 'added_at'),
        last: attributes.disabled === true,
      },
    ]
  })
}

type Codes = { secrets?: { context?: { secret?: string; used_at?: string }; text?: string; id?: number }[] }

/** The backup codes that a flow shows; a used one is empty. */
export function getBackupCodes(flow: Flow | undefined): { code: string; used: boolean }[] {
  const node = flow?.ui.nodes.find(
    ({ attributes }) => attributes.node_type === 'text' && attributes.id === 'lookup_secret_codes',
  )
  if (node?.attributes.node_type !== 'text') return []
  const { secrets = [] } = (node.attributes.text.context ?? {}) as Codes
  return secrets.map(({ context, text, id }) => ({ code: context?.secret ?? text ?? '', used: id === usedCode }))
}

/** Message of a code that was used. */
const usedCode = 1050014

/** The text of a node that is no input: the secret of an authenticator. */
export function getText(flow: Flow | undefined, id: string): string {
  const node = flow?.ui.nodes.find(({ attributes }) => attributes.node_type === 'text' && attributes.id === id)
  return node?.attributes.node_type === 'text' ? node.attributes.text.text : ''
}

/** The address of a picture in the form: the QR code of an authenticator. */
export function getImage(flow: Flow | undefined, id: string): string {
  const node = flow?.ui.nodes.find(({ attributes }) => attributes.node_type === 'img' && attributes.id === id)
  return node?.attributes.node_type === 'img' ? node.attributes.src : ''
}
