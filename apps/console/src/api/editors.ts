import type { LiveParams } from '@crux/client'
import type { Editor } from '@crux/contract'
import { useEffect, useRef, useSyncExternalStore } from 'react'
import { createStore } from '../stores/create-store.ts'
import { live } from './live.ts'

type EditedChannel = 'version' | 'deployment' | 'container-configuration'
type Presence = { meId: string | null; editors: readonly Editor[] }

const nobody: Presence = { meId: null, editors: [] }
const presence = createStore<Presence>(nobody)

/** The users on the page for the badges of the top bar, including the current user. */
export const usePresence = (): Presence => useSyncExternalStore(presence.subscribe, presence.get)

/**
 * Joins the editors of a page. Every multi-user input calls `focus` and `blur`; `getEditor` names the other user who
 * has that input focused, for its outline. An input is known by what it edits (`itemId`) and which of its fields it is (`inputId`).
 */
export function useEditors<C extends EditedChannel>(name: C, params: LiveParams<C>) {
  const { meId, editors } = usePresence()
  const send = useRef<(type: 'focus-input' | 'blur-input', data: { itemId: string; inputId: string }) => void>(() => {})
  const key = JSON.stringify(params)

  useEffect(() => {
    // The three channels declare the same editor messages, so one of them is enough for the types.
    const channel = live.channel(name as 'version', JSON.parse(key) as LiveParams<'version'>)
    send.current = channel.send
    channel.on('editor-init', presence.set)
    channel.on('editor-joined', (editor) => update((all) => [...all.filter((other) => other.id !== editor.id), editor]))
    channel.on('editor-left', ({ id }) => update((all) => all.filter((editor) => editor.id !== id)))
    channel.on('input-focused', ({ userId, itemId, inputId }) => setFocus(userId, itemId, inputId))
    channel.on('input-blured', ({ userId }) => setFocus(userId, null, null))
    return () => {
      send.current = () => {}
      channel.close()
      presence.set(nobody)
    }
  }, [name, key])

  return {
    focus: (itemId: string, inputId: string) => send.current('focus-input', { itemId, inputId }),
    blur: (itemId: string, inputId: string) => send.current('blur-input', { itemId, inputId }),
    getEditor: (itemId: string, inputId: string) =>
      editors.find(
        (editor) => editor.id !== meId && editor.focusedItemId === itemId && editor.focusedInputId === inputId,
      ),
  }
}

const update = (change: (editors: readonly Editor[]) => readonly Editor[]) =>
  presence.set({ ...presence.get(), editors: change(presence.get().editors) })

const setFocus = (userId: string, focusedItemId: string | null, focusedInputId: string | null) =>
  update((all) => all.map((editor) => (editor.id === userId ? { ...editor, focusedItemId, focusedInputId } : editor)))
