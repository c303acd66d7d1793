import type { Flow } from '../flows/flow-record.ts'
import { messages } from '../flows/messages.ts'
import { input, type Node } from '../flows/nodes.ts'
import type { Captcha } from './verifier.ts'

/**
 * Whether a flow asks for the check: sign-up and recovery before their first step, a sign-in once it failed too often. Not where a
 * code is on its way or a provider vouches for the person, and not for a code that an administrator passed on.
 */
export function wantsCaptcha({ kind, state, context }: Pick<Flow, 'kind' | 'state' | 'context'>): boolean {
  if (state !== 'choose_method' || context.unbound) return false
  if (kind === 'login') return context.captcha === true
  return kind === 'recovery' || (kind === 'registration' && context.methods?.oidc?.proven === undefined)
}

/** What a page needs to show the check, and where it puts what comes of it. */
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
