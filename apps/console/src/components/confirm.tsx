import { useSyncExternalStore } from 'react'
import { lazyComponent } from '../loading/lazy-component.tsx'
import { createStore } from '../stores/create-store.ts'
import type { Question } from './question.ts'

const ConfirmDialog = lazyComponent(async () => (await import('./ConfirmDialog.tsx')).ConfirmDialog)

type Pending = Question & { answer: (text: string | null) => void }
const pending = createStore<Pending | null>(null)

/** The one confirmation of the console: `if (await confirm({...})) ...`. A second question answers the first with no. */
export const confirm = async (question: Question): Promise<boolean> => (await ask(question)) !== null

/** A confirmation with a text. @returns null for no */
export const askText = (question: Question & Required<Pick<Question, 'input'>>): Promise<string | null> => ask(question)

function ask(question: Question): Promise<string | null> {
  pending.get()?.answer(null)
  return new Promise((resolve) => {
    pending.set({ ...question, answer: resolve })
  })
}

/** Mounted once in the root. */
export function ConfirmHost() {
  const question = useSyncExternalStore(pending.subscribe, pending.get)
  if (!question) return null
  const finish = (text: string | null) => {
    pending.set(null)
    question.answer(text)
  }
  return <ConfirmDialog question={question} onAnswer={finish} />
}
