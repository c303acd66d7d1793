import { useEffect, useRef } from 'react'
import { useConfigForm } from './config-context.ts'

/** Publishes which control this user is in, and returns which other user is in it. A control that is removed with the focus clears its mark. */
export function useFocusMark(inputId: string) {
  const { configId, editors, readOnly } = useConfigForm()
  /** Clears the mark, if it is set. */
  const marked = useRef<(() => void) | null>(null)
  const leave = useRef(() => {
    marked.current?.()
    marked.current = null
  }).current
  useEffect(() => leave, [leave])
  return {
    other: editors.getEditor(configId, inputId),
    enter() {
      if (readOnly) return
      editors.focus(configId, inputId)
      marked.current = () => editors.blur(configId, inputId)
    },
    // Immediate, because the next control reports its focus right after.
    leave,
  }
}
