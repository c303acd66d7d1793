import { useEffect, useRef, useState } from 'react'
import { useConfigForm } from './config-context.ts'

/** Tells the others that this person is at a control, and says who of them is. One that goes away while it has the focus gives its mark back. */
export function useFocusMark(inputId: string) {
  const { configId, editors, readOnly } = useConfigForm()
  const [focused, setFocused] = useState(false)
  const latest = useRef({ inputId, blur: editors.blur })
  latest.current = { inputId, blur: editors.blur }
  useEffect(() => {
    if (!focused) return
    return () => latest.current.blur(configId, latest.current.inputId)
  }, [focused, configId])
  return {
    other: editors.editorOf(configId, inputId),
    enter() {
      setFocused(true)
      if (!readOnly) editors.focus(configId, inputId)
    },
    leave: () => setFocused(false),
  }
}
