import type { TFunction } from 'i18next'
import { type FormEvent, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from './Button.tsx'
import { Dialog } from './Dialog.tsx'
import { Field, TextArea, TextInput } from './Field.tsx'
import type { Question } from './question.ts'
import { isTypedName } from './typed-name.ts'

type Props = {
  question: Question
  /** With the typed text; null for no. */
  onAnswer: (text: string | null) => void
}

/** The dialog of `confirm`; loaded with the first question. */
export function ConfirmDialog({ question, onAnswer }: Props) {
  const { t } = useTranslation()
  const [typed, setTyped] = useState('')
  // A new question starts with an empty box.
  useEffect(() => setTyped(''), [question])
  const missing = getMissing(question, typed, t)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!missing) onAnswer(typed.trim())
  }
  return (
    <Dialog
      open
      onClose={() => onAnswer(null)}
      title={question.title}
      description={question.text}
      initialFocus={(content) => content.querySelector('form :is(input, textarea), [data-confirm]')}
      footer={
        <>
          {!question.info && <Button onClick={() => onAnswer(null)}>{t('cancel')}</Button>}
          <Button
            data-confirm
            type="submit"
            form="confirm"
            variant={question.danger ? 'bad-main' : 'main'}
            disabledReason={missing}
          >
            {question.action}
          </Button>
        </>
      }
    >
      <form id="confirm" onSubmit={submit}>
        {question.typeName !== undefined && (
          <Field label={t('confirm.type', { name: question.typeName })}>
            <TextInput mono autoComplete="off" value={typed} onChange={(event) => setTyped(event.target.value)} />
          </Field>
        )}
        {question.input && (
          <Field label={question.input.label} help={question.input.help}>
            <TextArea
              rows={2}
              maxLength={question.input.max}
              value={typed}
              onChange={(event) => setTyped(event.target.value)}
            />
          </Field>
        )}
      </form>
    </Dialog>
  )
}

/** Why it cannot be confirmed yet. */
function getMissing({ typeName, input }: Question, typed: string, t: TFunction): string | null {
  if (typeName !== undefined && !isTypedName(typed, typeName)) return t('confirm.typeFirst', { name: typeName })
  return input && typed.trim() === '' ? input.missing : null
}
