import { useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from './Button.tsx'
import { cx } from './class-names.ts'
import { useNarrow } from './use-media.ts'

/** About as many characters as a line has. */
const perLine = { narrow: 40, wide: 100 }
const folds = { 3: 'line-clamp-3', 6: 'line-clamp-6' }

type Props = { text: string; lines: keyof typeof folds; className?: string }

/** A text that shows only its first lines until the user expands it, so that the content below stays visible. */
export function FoldedText({ text, lines, className }: Props) {
  const { t } = useTranslation()
  const [open, setOpen] = useState(false)
  const id = useId()
  const charactersMax = lines * perLine[useNarrow() ? 'narrow' : 'wide']
  const isLong = text.length > charactersMax || text.split('\n').length > lines
  return (
    <>
      <p id={id} className={cx('wrap-anywhere whitespace-pre-wrap', isLong && !open && folds[lines], className)}>
        {text}
      </p>
      {isLong && (
        <Button size="sm" className="mt-1.5" aria-expanded={open} aria-controls={id} onClick={() => setOpen(!open)}>
          {t(open ? 'showLess' : 'showAll')}
        </Button>
      )}
    </>
  )
}
