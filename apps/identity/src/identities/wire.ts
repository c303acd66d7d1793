import { schemaId } from './identity-schema.ts'
import type { Identity, RecoveryAddress, User, VerifiableAddress } from './store.ts'

type Wire = Record<string, unknown>

/** The id of the schema in base64url, as Ory Kratos writes it into addresses. */
export const encodedSchemaId = Buffer.from(schemaId).toString('base64url')
export const schemaUrl = (publicUrl: string) => `${publicUrl}/schemas/${encodedSchemaId}`

/** An identity in the form for all clients that are allowed to read it. */
export function showIdentity(user: User, publicUrl: string): Wire {
  return {
    ...showBareIdentity(user, schemaUrl(publicUrl)),
    verifiable_addresses: user.verifiable.map(showVerifiable),
    recovery_addresses: user.recovery.map(showRecovery),
  }
}

/** An identity without addresses, as lists of sessions contain it. */
export function showBareIdentity(identity: Identity, schema: string): Wire {
  return {
    id: identity.id,
    schema_id: identity.schemaId,
    schema_url: schema,
    state: identity.state,
    state_changed_at: identity.stateChangedAt.toISOString(),
    traits: identity.traits,
    metadata_public: identity.metadataPublic ?? null,
    created_at: identity.createdAt.toISOString(),
    updated_at: identity.updatedAt.toISOString(),
    organization_id: null,
  }
}

function showVerifiable(address: VerifiableAddress): Wire {
  return {
    ...showRecovery(address),
    verified: address.verified,
    status: address.status,
    ...(address.verifiedAt ? { verified_at: address.verifiedAt.toISOString() } : {}),
  }
}

function showRecovery(address: RecoveryAddress): Wire {
  return {
    id: address.id,
    value: address.value,
    via: address.via,
    created_at: address.createdAt.toISOString(),
    updated_at: address.updatedAt.toISOString(),
  }
}
