import { useSyncExternalStore } from 'react'
import { lazyComponent } from '../loading/lazy-component.tsx'
import { createStore } from '../stores/create-store.ts'
import type { Question } from './question.ts'

const ConfirmDialog = lazyComponent(async () => (await import('./ConfirmDialog.tsx')).ConfirmDialog)

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
  if (!question) return null
  const finish = (yes: boolean) => {
    pending.set(null)
    question.answer(yes)
  }
  return <ConfirmDialog question={question} onAnswer={finish} />
}
