import type { Captcha } from '../app/services.ts'
import type { Flow } from '../db/schema.ts'
import { messages } from '../ui/messages.ts'
import { input, type Node } from '../ui/nodes.ts'

/**
 * Whether a flow requires the captcha: sign-up and recovery before their first step, a sign-in after too many failures. It is not required while a
 * code is on its way, for a provider that vouches for the user, or for a code that an administrator passed on.
 */
export function wantsCaptcha({ kind, state, context }: Pick<Flow, 'kind' | 'state' | 'context'>): boolean {
  if (state !== 'choose_method' || context.unbound) return false
  if (kind === 'login') return context.captcha === true
  return kind === 'recovery' || (kind === 'registration' && context.methods?.oidc?.proven === undefined)
}

/** The nodes that a page needs to show the captcha and to submit its result. */
export function captchaNodes({ scriptUrl, siteKey }: Captcha): Node[] {
  const group = 'captcha'
  const plain = { group, messages: [], meta: {} }
  const script = {
    src: scriptUrl,
    async: true,
    referrerpolicy: 'no-referrer',
    crossorigin: '',
    integrity: '',
    nonce: '',
  }
  return [
    {
      ...plain,
      type: 'script',
      attributes: { ...script, type: 'text/javascript', id: 'captcha_script', node_type: 'script' },
    },
    { ...plain, type: 'div', attributes: { id: 'captcha', data: { sitekey: siteKey }, node_type: 'div' } },
    input(group, 'transient_payload.captcha_token', 'hidden', {
      value: '',
      required: true,
      label: messages.labelCaptcha(),
    }),
  ]
}
