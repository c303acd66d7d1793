import { useEffect, useRef } from 'react'
import { useConfigForm } from './config-context.ts'

/** Tells the others that this person is at a control, and says who of them is. One that goes away while it has the focus gives its mark back. */
export function useFocusMark(inputId: string) {
  const { configId, editors, readOnly } = useConfigForm()
  /** Takes the mark back, while it stands. */
  const marked = useRef<(() => void) | null>(null)
  const leave = useRef(() => {
    marked.current?.()
    marked.current = null
  }).current
  useEffect(() => leave, [leave])
  return {
    other: editors.editorOf(configId, inputId),
    enter() {
      if (readOnly) return
      editors.focus(configId, inputId)
      marked.current = () => editors.blur(configId, inputId)
    },
    // At once: the next control says that it has the focus right after.
    leave,
  }
}
