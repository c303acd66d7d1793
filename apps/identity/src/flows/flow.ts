import type { Captcha } from '../app/services.ts'
import { captchaNodes, wantsCaptcha } from '../captcha/nodes.ts'
import type { Keys } from '../crypto/secrets.ts'
import type { Flow, FlowKind } from '../db/schema.ts'
import { mask } from '../http/csrf.ts'
import { type Node, unsealed } from '../ui/nodes.ts'

/** Whether a flow can continue at a provider: in a browser, or in an app that waits for a code while its user is in a browser. */
export function canLeave({ type, context }: Pick<Flow, 'type' | 'context'>): boolean {
  return type === 'browser' || context.exchanges === true
}

/** The lifespans of the default configuration. */
export const lifespanMs: Record<FlowKind, number> = {
  login: 10 * 60_000,
  registration: 10 * 60_000,
  verification: 60 * 60_000,
  recovery: 60 * 60_000,
  settings: 60 * 60_000,
}

/**
 * Converts a flow to the form that clients see.
 *
 * @param csrfToken of the requesting browser, masked again for each answer; absent for API flows
 */
export function showFlow(
  flow: Flow,
  { publicUrl, keys, captcha }: { publicUrl: string; keys: Keys; captcha: Captcha | undefined },
  csrfToken?: Buffer,
): Record<string, unknown> {
  const { messages } = flow.ui
  const asked = captcha && wantsCaptcha(flow) ? captchaNodes(captcha) : []
  const nodes = [...flow.ui.nodes, ...asked].map((node) => unsealed(keys, withCsrfToken(node, csrfToken)))
  const secondFactorByApi = flow.kind === 'login' && flow.type === 'api' && flow.context.requestedAal === 'aal2'
  return {
    id: flow.id,
    type: flow.type,
    ...(flow.kind === 'login' || flow.kind === 'registration' ? { organization_id: null } : {}),
    expires_at: flow.expiresAt.toISOString(),
    issued_at: flow.issuedAt.toISOString(),
    request_url: flow.requestUrl,
    return_to: flow.returnTo ?? undefined,
    active: flow.active ?? undefined,
    ui: {
      action: flow.ui.action ?? `${publicUrl}/self-service/${flow.kind}?flow=${flow.id}`,
      method: flow.ui.method,
      // An API flow without inputs has null as its nodes, as in Ory Kratos.
      nodes: secondFactorByApi && nodes.length === 0 ? null : nodes,
      messages: messages.length === 0 ? undefined : messages,
    },
    state: flow.state,
    ...(flow.kind === 'login'
      ? {
          refresh: flow.context.refresh ?? false,
          requested_aal: flow.context.requestedAal ?? 'aal1',
          created_at: flow.createdAt.toISOString(),
          updated_at: flow.updatedAt.toISOString(),
        }
      : {}),
  }
}

function withCsrfToken(node: Node, token: Buffer | undefined): Node {
  if (!token || node.attributes.name !== 'csrf_token') return node
  return { ...node, attributes: { ...node.attributes, value: mask(token) } }
}
