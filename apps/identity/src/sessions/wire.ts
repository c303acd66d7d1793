import type { App } from '../app/app.ts'
import { showBareIdentity, showIdentity } from '../identities/wire.ts'
import type { Device, Session, SessionDetails } from './store.ts'

type Wire = Record<string, unknown>

type WireContext = Pick<App, 'publicUrl' | 'providers'>

export function showSession(session: SessionDetails, app: WireContext): Wire {
  return {
    ...showBareSession(session, app),
    identity: showIdentity(session.user, app.publicUrl),
    devices: session.devices.map(showDevice),
  }
}

/** A session without its user and devices. `active` is false for an expired session too. */
export function showBareSession(session: Session, app: WireContext): Wire {
  return {
    id: session.id,
    active: session.active && session.expiresAt.getTime() > Date.now(),
    expires_at: session.expiresAt.toISOString(),
    authenticated_at: session.authenticatedAt.toISOString(),
    authenticator_assurance_level: session.aal,
    authentication_methods: session.authenticationMethods.map((way) => ({ ...way, ...providerLabel(way, app) })),
    issued_at: session.issuedAt.toISOString(),
  }
}

/** The label of the provider that a user came from; empty when the provider is no longer configured. */
export function providerLabel({ provider }: { provider?: unknown }, { providers }: Pick<App, 'providers'>): Wire {
  const found = typeof provider === 'string' ? providers.get(provider) : undefined
  return found ? { provider_label: found.label } : {}
}

/** Sessions in a list have no addresses of their user and no address of the schema. */
export function showListedSession(session: SessionDetails, app: WireContext): Wire {
  return {
    ...showBareSession(session, app),
    identity: showBareIdentity(session.user, ''),
    devices: session.devices.map(showDevice),
  }
}

export function showDevice(device: Device): Wire {
  return {
    id: device.id,
    ip_address: device.ipAddress,
    user_agent: device.userAgent,
    location: device.location,
  }
}
