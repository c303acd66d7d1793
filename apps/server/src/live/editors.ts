import type { Editor } from '@crux/contract'
import type { Bus, BusEventOf } from '../bus/index.ts'
import type { App } from '../context.ts'

/**
 * The interval at which this process announces its editors. Editors without an announcement for `lostMs` left with
 * their server.
 */
const announceMs = 20_000
const lostMs = 65_000

export type EditorMessage = 'editor-init' | 'editor-joined' | 'editor-left' | 'input-focused' | 'input-blured'
export type EditorPeer = { id: string; send(type: EditorMessage, data: unknown): void }
type EditorEvent = BusEventOf<'editor.joined'>
type Presence = { editor: Editor; heardAt: number }
type Room = { peers: Map<string, EditorPeer>; editors: Map<string, Presence> }

/** The editors of a resource, over all server processes. One editor is one socket; focus is a hint, no lock. */
export type Editors = ReturnType<typeof createEditors>

export function createEditors(app: Pick<App, 'bus'>) {
  const rooms = new Map<string, Room>()
  // Events of this process come back over the bus and are already known.
  const foreign = (heard: (room: Room, event: EditorEvent) => void) => {
    return (event: EditorEvent) => {
      const room = rooms.get(event.channel)
      if (room && !isLocal(room, event.editor.id)) heard(room, event)
    }
  }
  app.bus.on(
    'editor.joined',
    foreign((room, { editor: { itemId, inputId, ...editor } }) =>
      addEditor(room, { ...editor, focusedItemId: itemId ?? null, focusedInputId: inputId ?? null }),
    ),
  )
  app.bus.on(
    'editor.left',
    foreign((room, { editor }) => removeEditor(room, editor.id)),
  )
  app.bus.on(
    'editor.focused',
    foreign((room, { editor }) => focus(room, editor.id, editor.itemId ?? '', editor.inputId ?? '')),
  )
  app.bus.on(
    'editor.blurred',
    foreign((room, { editor }) => blur(room, editor.id, editor.itemId ?? '', editor.inputId ?? '')),
  )
  app.bus.on('editor.ask', ({ channel, origin }) => {
    const room = rooms.get(channel)
    if (room && !room.peers.has(origin)) announce(app.bus, channel, room)
  })

  const timer = setInterval(() => {
    const now = Date.now()
    for (const [channel, room] of rooms) {
      announce(app.bus, channel, room)
      for (const [id, { heardAt }] of room.editors)
        if (!isLocal(room, id) && now - heardAt > lostMs) removeEditor(room, id)
    }
  }, announceMs)
  timer.unref()

  return {
    join(channel: string, peer: EditorPeer, name: string): void {
      const room = rooms.get(channel) ?? { peers: new Map(), editors: new Map() }
      const first = room.peers.size === 0
      rooms.set(channel, room)
      const editor: Editor = { id: peer.id, name, color: freeColor(room), focusedItemId: null, focusedInputId: null }
      room.peers.set(peer.id, peer)
      addEditor(room, editor)
      peer.send('editor-init', { meId: peer.id, editors: [...room.editors.values()].map((entry) => entry.editor) })
      publish(app.bus, 'editor.joined', channel, editor)
      if (first) app.bus.publish({ type: 'editor.ask', channel, origin: peer.id })
    },
    leave(channel: string, id: string): void {
      const room = rooms.get(channel)
      const editor = room?.editors.get(id)?.editor
      if (!room?.peers.delete(id)) return
      removeEditor(room, id)
      if (editor) publish(app.bus, 'editor.left', channel, editor)
      if (room.peers.size === 0) rooms.delete(channel)
    },
    move(
      channel: string,
      id: string,
      type: 'focus-input' | 'blur-input',
      { itemId, inputId }: { itemId: string; inputId: string },
    ): void {
      const room = rooms.get(channel)
      const editor = room?.editors.get(id)?.editor
      if (!room || !editor) return
      if (type === 'focus-input') focus(room, id, itemId, inputId)
      else blur(room, id, itemId, inputId)
      publish(app.bus, type === 'focus-input' ? 'editor.focused' : 'editor.blurred', channel, editor, itemId, inputId)
    },
    stop: () => clearInterval(timer),
  }
}

function publish(
  bus: Bus,
  type: EditorEvent['type'],
  channel: string,
  { id, name, color }: Editor,
  itemId?: string | null,
  inputId?: string | null,
): void {
  const editor = { id, name, color, itemId: itemId ?? undefined, inputId: inputId ?? undefined }
  bus.publish({ type, channel, editor })
}

/** Tells the other processes which editors this one has. */
function announce(bus: Bus, channel: string, room: Room): void {
  for (const { editor } of room.editors.values())
    if (isLocal(room, editor.id))
      publish(bus, 'editor.joined', channel, editor, editor.focusedItemId, editor.focusedInputId)
}

const isLocal = (room: Room, id: string) => room.peers.has(id)

function broadcast(room: Room, except: string, type: EditorMessage, data: unknown) {
  for (const peer of room.peers.values()) if (peer.id !== except) peer.send(type, data)
}

function addEditor(room: Room, editor: Editor) {
  const known = room.editors.get(editor.id)
  room.editors.set(editor.id, { editor, heardAt: Date.now() })
  if (!known) broadcast(room, editor.id, 'editor-joined', editor)
}

function removeEditor(room: Room, id: string) {
  const known = room.editors.get(id)
  if (!known?.editor) return
  room.editors.delete(id)
  const { focusedItemId, focusedInputId } = known.editor
  broadcast(room, id, 'editor-left', { id, focusedItemId, focusedInputId })
}

function focus(room: Room, id: string, itemId: string, inputId: string) {
  const known = room.editors.get(id)
  if (!known) return
  known.editor = { ...known.editor, focusedItemId: itemId, focusedInputId: inputId }
  broadcast(room, id, 'input-focused', { itemId, inputId, userId: id })
}

function blur(room: Room, id: string, itemId: string, inputId: string) {
  const known = room.editors.get(id)
  if (!known) return
  known.editor = { ...known.editor, focusedItemId: null, focusedInputId: null }
  broadcast(room, id, 'input-blured', { itemId, inputId, userId: id })
}

/** `#rrggbb` with saturation and lightness between 40 and 80 %, unique in the room; white if none is left. */
function freeColor(room: Room): string {
  const taken = new Set([...room.editors.values()].map(({ editor }) => editor.color))
  for (let tries = 0; tries < 100; tries++) {
    const color = hex(Math.random() * 360, 0.4 + Math.random() * 0.4, 0.4 + Math.random() * 0.4)
    if (!taken.has(color)) return color
  }
  return '#ffffff'
}

function hex(hue: number, saturation: number, lightness: number): string {
  const reach = saturation * Math.min(lightness, 1 - lightness)
  const part = (offset: number) => {
    const k = (offset + hue / 30) % 12
    const value = lightness - reach * Math.max(-1, Math.min(k - 3, 9 - k, 1))
    return Math.round(value * 255)
      .toString(16)
      .padStart(2, '0')
  }
  return `#${part(0)}${part(8)}${part(4)}`
}
