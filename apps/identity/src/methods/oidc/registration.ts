import type { App } from '../../app/app.ts'
import type { Claims, Provider } from '../../app/services.ts'
import type { Flow } from '../../db/schema.ts'
import { traitInputs } from '../../flows/forms.ts'
import type { RegistrationOutcome } from '../../flows/sign-in-method.ts'
import { isObject } from '../../http/body.ts'
import { normalizeIdentifier } from '../../identities/identity-schema.ts'
import { checkTraits, completeTraits, getEmail } from '../../identities/traits.ts'
import { csrfNode, input, withMessages } from '../../ui/nodes.ts'
import { factorMessages } from '../factor-messages.ts'
import { recall, remember } from '../memory.ts'
import { oidcIdentifier } from './links.ts'

/**
 * Signs up a user who has proven a provider account. If the provider returned too little data, the flow continues with a form for the rest and keeps
 * the proven claims. A name is requested once and may be left empty.
 */
export function registerWith(
  app: App,
  flow: Flow,
  provider: Provider,
  claims: Claims,
  typed: unknown,
): RegistrationOutcome {
  const traits = completeTraits(mergeTraits(claims, typed))
  const found = checkTraits(traits)
  if (found.size > 0 || (claims.firstName === undefined && typed === undefined)) {
    remember(flow.context, 'oidc', {
      proven: app.keys.seal(JSON.stringify({ provider: provider.id, claims }), `oidc proven ${flow.id}`),
    })
    const nodes = [
      csrfNode(),
      ...traitInputs('oidc', traits),
      input('oidc', 'provider', 'submit', {
        value: provider.id,
        label: factorMessages.registerContinue(provider.label, provider.id),
      }),
    ]
    const ui = { method: 'POST' as const, messages: found.get('') ?? [], nodes: withMessages(nodes, found) }
    return { kind: 'continued', change: { ui, context: flow.context, active: 'oidc' }, status: 400 }
  }
  const link = { provider: provider.id, subject: claims.subject }
  return {
    kind: 'proven',
    traits,
    provider: provider.id,
    credentials: [{ type: 'oidc', config: { providers: [link] }, identifiers: [oidcIdentifier(link)] }],
    session: true,
    verified: claims.emailVerified && sameAddress(claims.email, getEmail(traits)),
  }
}

/** The claims that the provider has proven in this flow before. */
export function readProven(app: App, flow: Flow, providerId: string): Claims | undefined {
  const { proven } = recall(flow.context, 'oidc')
  if (typeof proven !== 'string') return undefined
  const { provider, claims }: { provider: string; claims: Claims } = JSON.parse(
    app.keys.open(proven, `oidc proven ${flow.id}`),
  )
  return provider === providerId ? claims : undefined
}

/** The user may change the names; an address from the provider cannot be changed. */
function mergeTraits(claims: Claims, typed: unknown): Record<string, unknown> {
  const given = isObject(typed) ? typed : {}
  const names = isObject(given.name) ? given.name : {}
  return {
    ...given,
    ...(claims.email === undefined ? {} : { email: claims.email }),
    name: {
      ...(claims.firstName === undefined ? {} : { first: claims.firstName }),
      ...(claims.lastName === undefined ? {} : { last: claims.lastName }),
      ...names,
    },
  }
}

function sameAddress(a: string | undefined, b: string): boolean {
  return a !== undefined && normalizeIdentifier(a) === normalizeIdentifier(b)
}
