import { traitInputs } from '../flows/forms.ts'
import type { SettingsMethod } from '../flows/settings-method.ts'
import { isObject } from '../http/body.ts'
import { normalizeIdentifier } from '../identities/identity-schema.ts'
import { replaceTraits, type User } from '../identities/store.ts'
import { checkTraits, getEmail, submittedTraits, traitAt } from '../identities/traits.ts'
import { recordSecurityEvent } from '../security/events.ts'
import { messages } from '../ui/messages.ts'
import { type Node, submitButton } from '../ui/nodes.ts'

/** The profile of a user. Traits are replaced as a whole: omitted ones are deleted. */
export const profileSettings: SettingsMethod = {
  id: 'profile',
  nodes: (_app, { user }) => profileNodes(user.traits),
  /** A user with a verified address has to authenticate again even to change a name, as in Ory Kratos. */
  privileged: ({ user, fields }) =>
    user.verifiable.some(({ verified }) => verified) || hasOtherEmail(user, traitAt(fields.traits, 'traits.email')),
  async submit(app, { ctx, fields, user }) {
    const traits = submittedTraits(fields.traits)
    const found = checkTraits(traits)
    if (found.size > 0 || !isObject(traits)) return { kind: 'refused', found, nodes: profileNodes(traits) }
    const other = hasOtherEmail(user, traitAt(traits, 'traits.email'))
    return {
      kind: 'changed',
      nodes: profileNodes(traits),
      ...(other ? { address: normalizeIdentifier(getEmail(traits)) } : {}),
      async write(tx) {
        const address = await replaceTraits(tx, user, traits, {
          verified: app.assumesAddresses && 'assumed',
        })
        const [from, to] = [getEmail(user.traits), getEmail(traits)]
        if (address) await recordSecurityEvent(tx, app, ctx, user, { event: 'address-changed', from, to })
        return address
      },
    }
  },
}

function profileNodes(traits: unknown): Node[] {
  return [...traitInputs('profile', traits), submitButton('profile', messages.labelSave())]
}

function hasOtherEmail(user: User, email: unknown): boolean {
  return normalizeIdentifier(String(email ?? '')) !== normalizeIdentifier(getEmail(user.traits))
}
