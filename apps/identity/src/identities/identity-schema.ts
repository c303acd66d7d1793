/** The traits of a user: a JSON Schema with the extensions of Ory for identifiers, verification and recovery. */
export const schemaId = 'default'

export interface TraitSchema {
  $id?: string
  $schema?: string
  type: 'object' | 'string'
  title?: string
  format?: 'email'
  minLength?: number
  maxLength?: number
  properties?: Record<string, TraitSchema>
  required?: string[]
  additionalProperties?: boolean
  'ory.sh/kratos'?: Record<string, unknown>
}

export const traitsSchema: TraitSchema = {
  type: 'object',
  properties: {
    email: {
      type: 'string',
      format: 'email',
      title: 'E-Mail',
      minLength: 3,
      'ory.sh/kratos': {
        credentials: {
          password: { identifier: true },
          code: { identifier: true, via: 'email' },
          totp: { account_name: true },
          webauthn: { identifier: true },
          passkey: { display_name: true },
        },
        verification: { via: 'email' },
        recovery: { via: 'email' },
      },
    },
    name: {
      type: 'object',
      properties: { first: { title: 'First Name', type: 'string' }, last: { title: 'Last Name', type: 'string' } },
    },
  },
  required: ['email'],
  additionalProperties: false,
}

export const identitySchema: TraitSchema = {
  $id: 'urn:crux:identity.schema.json',
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Person',
  type: 'object',
  properties: { traits: traitsSchema },
}

/** The sign-in methods whose identifier is the e-mail address. Each identity has a row for all of them. */
export const identifiedBy = ['password', 'code', 'webauthn'] as const

/** The form in which an address is compared and stored as an identifier. The trait itself keeps its capitals. */
export function normalizeIdentifier(value: string): string {
  return value.trim().normalize('NFC').toLowerCase()
}
