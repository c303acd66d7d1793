import { FileDown } from 'lucide-react'
import { type DragEvent, type ReactNode, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { ComposerDraft } from '../../composer/composer-draft.ts'
import { useAddFiles } from './use-add-files.ts'

type Props = {
  draft: ComposerDraft
  onChange: (update: (draft: ComposerDraft) => ComposerDraft) => void
  children: ReactNode
}

/** Files that are dropped anywhere on the page are opened. */
export function DropFiles({ draft, onChange, children }: Props) {
  const { t } = useTranslation('composer')
  const add = useAddFiles(draft, onChange)
  const [isOver, setOver] = useState(false)
  // Moving over an inner element leaves the outer one.
  const depth = useRef(0)
  const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer.types.includes('Files')
  const enter = (by: 1 | -1) => (event: DragEvent) => {
    if (!hasFiles(event)) return
    depth.current += by
    setOver(depth.current > 0)
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is a shortcut for the button that chooses files
    <div
      className="relative"
      onDragEnter={enter(1)}
      onDragLeave={enter(-1)}
      onDragOver={(event) => hasFiles(event) && event.preventDefault()}
      // Before the editor, which would insert the text of the file.
      onDropCapture={(event) => {
        if (!hasFiles(event)) return
        event.preventDefault()
        event.stopPropagation()
        depth.current = 0
        setOver(false)
        void add([...event.dataTransfer.files])
      }}
    >
      {children}
      {isOver && (
        <div className="pointer-events-none absolute inset-0 z-30 grid place-items-center rounded-box border-2 border-dashed border-accent bg-veil">
          <p className="flex items-center gap-2 rounded-md bg-raised px-4 py-3 font-strong shadow-lift">
            <FileDown aria-hidden />
            {t('files.drop')}
          </p>
        </div>
      )}
    </div>
  )
}
