import { type FormEvent, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from './Button.tsx'
import { Dialog } from './Dialog.tsx'
import { Field, TextInput } from './Field.tsx'
import type { Question } from './question.ts'
import { isTypedName } from './typed-name.ts'

type Props = { question: Question; onAnswer: (yes: boolean) => void }

/** The dialog of `confirm`; loaded with the first question. */
export function ConfirmDialog({ question, onAnswer }: Props) {
  const { t } = useTranslation()
  const [typed, setTyped] = useState('')
  // A new question starts with an empty box.
  useEffect(() => setTyped(''), [question])
  const ready = question.typeName === undefined || isTypedName(typed, question.typeName)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (ready) onAnswer(true)
  }
  return (
    <Dialog
      open
      onClose={() => onAnswer(false)}
      title={question.title}
      description={question.text}
      initialFocus={(content) => content.querySelector(question.typeName ? 'input' : '[data-confirm]')}
      footer={
        <>
          {!question.info && <Button onClick={() => onAnswer(false)}>{t('cancel')}</Button>}
          <Button
            data-confirm
            type="submit"
            form="confirm"
            variant={question.danger ? 'bad-main' : 'main'}
            disabledReason={ready ? null : t('confirm.typeFirst', { name: question.typeName })}
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
      </form>
    </Dialog>
  )
}
