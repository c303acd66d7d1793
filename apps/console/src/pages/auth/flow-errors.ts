import { ApiError, type ApiErrorBody } from '@crux/client'
import i18n from 'i18next'
import type { Flow, FlowKind } from '../../api/identity.ts'

type Message = { id: number; text: string; type: string }
type Finding = NonNullable<ApiErrorBody['details']>[number]

/** Form fields of the sign-in pages, by the names of the flow's nodes. */
const fieldOfNode: Record<string, string> = {
  identifier: 'email',
  password: 'password',
  email: 'email',
  code: 'code',
  'traits.email': 'email',
  'traits.name.first': 'firstName',
  'traits.name.last': 'lastName',
}

/** Our text for a message of the identity service, else its own. */
export const messageText = (message: Message): string => {
  const key = `auth:message.${message.id}`
  return i18n.exists(key) ? i18n.t(key as 'auth:message.4000006') : message.text
}

/**
 * The errors of a returned flow in the form that forms use: messages of nodes at their fields, those of the
 * whole flow in the banner. Null when it holds no error.
 */
export function flowError(flow: Flow): ApiError | null {
  const atFields: Finding[] = flow.ui.nodes.flatMap((node) => {
    const name = 'name' in node.attributes ? node.attributes.name : ''
    return node.messages
      .filter((message) => message.type === 'error')
      .map((message) => ({
        property: fieldOfNode[name] ?? name,
        error: String(message.id),
        description: messageText(message),
      }))
  })
  const general: Finding[] = (flow.ui.messages ?? [])
    .filter((message) => message.type === 'error')
    .map((message) => ({ error: String(message.id), description: messageText(message) }))
  const first = general[0] ?? atFields[0]
  if (!first) return null
  return new ApiError({ status: 400, ...first, details: [...general, ...atFields] })
}

/** A relayed answer holds the flow itself, or the flow below an error's `value`; anything else is no flow. */
export function getFlow<K extends FlowKind>(answer: unknown): Flow<K> | null {
  if (typeof answer !== 'object' || answer === null) return null
  if ('ui' in answer && 'id' in answer) return answer as Flow<K>
  if ('value' in answer) return getFlow<K>(answer.value)
  return null
}
