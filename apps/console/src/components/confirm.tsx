import { type FormEvent, useEffect, useState, useSyncExternalStore } from 'react'
import { useTranslation } from 'react-i18next'
import { createStore } from '../stores/create-store.ts'
import { Button } from './Button.tsx'
import { Dialog } from './Dialog.tsx'
import { Field, TextInput } from './Field.tsx'

export type Question = {
  /** Names the thing: "Delete registry acme?" */
  title: string
  /** What will happen or be lost, in words. */
  text: string
  /** The verb of the button. */
  action: string
  danger?: boolean
  /** For what cannot be undone: the name that has to be typed. */
  typeName?: string
  /** Without a cancel button: something to read. */
  info?: boolean
}

type Pending = Question & { answer: (yes: boolean) => void }
const pending = createStore<Pending | null>(null)

/** The one confirmation of the console: `if (await confirm({...})) ...`. A second question answers the first with no. */
export function confirm(question: Question): Promise<boolean> {
  pending.get()?.answer(false)
  return new Promise((resolve) => {
    pending.set({ ...question, answer: resolve })
  })
}

/** Mounted once in the root. */
export function ConfirmHost() {
  const question = useSyncExternalStore(pending.subscribe, pending.get)
  const { t } = useTranslation()
  const [typed, setTyped] = useState('')
  // A new question starts with an empty box
  useEffect(() => setTyped(''), [question])
  if (!question) return null

  const ready = question.typeName === undefined || typed.trim() === question.typeName
  const finish = (yes: boolean) => {
    pending.set(null)
    question.answer(yes)
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (ready) finish(true)
  }
  return (
    <Dialog
      open
      onClose={() => finish(false)}
      title={question.title}
      description={question.text}
      initialFocus={(content) => content.querySelector(question.typeName ? 'input' : '[data-confirm]')}
      footer={
        <>
          {!question.info && <Button onClick={() => finish(false)}>{t('cancel')}</Button>}
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
