import { useSyncExternalStore } from 'react'
import { createStore } from '../stores/create-store.ts'
import { lazyComponent } from './lazy-component.tsx'

const ConfirmDialog = lazyComponent(() => import('./ConfirmDialog.tsx').then((module) => module.ConfirmDialog))

export type Question = {
  /** Names the thing: "Delete registry acme?" */
  title: string
  /** Describes what will happen or be lost. */
  text: string
  /** The verb of the button. */
  action: string
  danger?: boolean
  /** The name that has to be typed to confirm an action that cannot be undone. */
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
  if (!question) return null
  const finish = (yes: boolean) => {
    pending.set(null)
    question.answer(yes)
  }
  return <ConfirmDialog question={question} onAnswer={finish} />
}
