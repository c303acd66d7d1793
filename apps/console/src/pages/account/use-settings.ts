import { useTranslation } from 'react-i18next'
import { type Flow, submitFlow } from '../../api/identity.ts'
import { confirm } from '../../components/confirm.tsx'
import type { Question } from '../../components/question.ts'
import { toastSuccess, toastText } from '../../components/toasts.tsx'
import { describeError } from '../../errors/describe-error.ts'
import { useSettingsFlow } from '../auth/use-settings-flow.ts'

export type Settings = ReturnType<typeof useSettings>
type Change = { fields: Record<string, unknown>; done?: string }

/** The settings flow for what goes to the identity service itself: factors, keys, passkeys. */
export function useSettings(returnTo: string, id?: string) {
  const { t } = useTranslation('account')
  const flow = useSettingsFlow<Change>({
    id,
    returnTo,
    submit: (current, { fields }) => submitFlow('settings', current as Flow<'settings'>, fields),
    onDone: (_, { done }) => {
      if (done) toastSuccess(done)
    },
  })
  /** For buttons, which have no field that could show an error. */
  const press = async (fields: Record<string, unknown> | (() => Promise<Record<string, unknown>>), done?: string) => {
    try {
      await flow.send({ fields: typeof fields === 'function' ? await fields() : fields, ...(done ? { done } : {}) })
    } catch (error) {
      toastText(describeError(error).text || t('refused'))
    }
  }
  /** The same after a question. */
  const ask = async (question: Question, fields: Record<string, unknown>, done?: string) => {
    if (await confirm(question)) await press(fields, done)
  }
  return { ...flow, press, ask }
}
