import type { SourcePosition } from '@crux/compose'
import { useNavigate } from '@tanstack/react-router'
import { useCallback, useRef, useState } from 'react'
import type { ComposerDraft } from '../../composer/composer-draft.ts'
import type { ComposerSection } from '../../routing/links.ts'
import type { EditorTarget } from './CodeEditor.tsx'

export type JumpTarget = EditorTarget & { fileId: string }

/** Leads from a problem to its line: the editor of its file shows it. */
export function useJump(draft: ComposerDraft, section: ComposerSection) {
  const navigate = useNavigate()
  const [target, setTarget] = useState<JumpTarget | null>(null)
  const latest = useRef({ draft, section })
  latest.current = { draft, section }
  // The same function while the user types, so that unchanged cards are not rendered again.
  const to = useCallback(
    ({ file, line, column }: SourcePosition) => {
      const { draft, section } = latest.current
      const env = draft.envFiles.findIndex(({ name }) => name === file)
      const found = draft.envFiles[env] ?? draft.files.find(({ name }) => name === file)
      if (!found) return
      // Other `.env` files than the default one are only in their section.
      if (env >= 0 && section !== 'environment')
        void navigate({ to: '.', search: (before) => ({ ...before, section: 'environment' }), resetScroll: false })
      setTarget((before) => ({ fileId: found.id, line, column, request: (before?.request ?? 0) + 1 }))
    },
    [navigate],
  )
  return { target, to }
}
