import { showIdentity } from '../identities/wire.ts'
import type { Device, Session, SessionDetails } from './store.ts'

type Wire = Record<string, unknown>

export function showSession({ session, person, devices }: SessionDetails, publicUrl: string): Wire {
  return { ...showBareSession(session), identity: showIdentity(person, publicUrl), devices: devices.map(showDevice) }
}

/** A session without its person and devices. `active` is false once it has run out, too. */
export function showBareSession(session: Session): Wire {
  return {
    id: session.id,
    active: session.active && session.expiresAt.getTime() > Date.now(),
    expires_at: session.expiresAt.toISOString(),
    authenticated_at: session.authenticatedAt.toISOString(),
    authenticator_assurance_level: session.aal,
    authentication_methods: session.authenticationMethods,
    issued_at: session.issuedAt.toISOString(),
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
