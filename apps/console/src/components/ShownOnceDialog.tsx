import type { ReactNode } from 'react'
import { Button } from './Button.tsx'
import { Dialog } from './Dialog.tsx'

type Props = {
  title: string
  text: string
  /** The label of the button with which the user confirms that the secret was copied. */
  done: string
  onClose: () => void
  children: ReactNode
}

/** Shows a secret that no page shows again. */
export function ShownOnceDialog({ title, text, done, onClose, children }: Props) {
  return (
    <Dialog
      open
      onClose={onClose}
      title={title}
      description={text}
      width="wide:w-[600px]"
      initialFocus={(content) => content.querySelector('[data-body] button')}
      footer={
        <Button variant="main" onClick={onClose}>
          {done}
        </Button>
      }
    >
      <div className="grid gap-4">{children}</div>
    </Dialog>
  )
}
