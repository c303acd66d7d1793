import type { ContainerConfigFields } from '@crux/contract'

/** The place of a value in a file; line and column count from 1. */
export type SourcePosition = { file: string; line: number; column: number }

/** Keys and indexes from the root of a compose file: `['services', 'web', 'ports', 0]`. */
export type ComposePath = readonly (string | number)[]

/** A value as YAML and JSON share it. */
export type ComposeValue = string | number | boolean | null | ComposeValue[] | { [key: string]: ComposeValue }

/** A compose file or an `.env` file as the user gave it. */
export type SourceFile = { name: string; text: string }

/**
 * What is wrong with the files. An error prevents the conversion of its service, or of everything if it belongs to none; a warning prevents
 * nothing. `path` is written with dots: `services.web.ports.0`, and empty for the whole file.
 */
export type ComposeProblem = SourcePosition & {
  level: 'error' | 'warning'
  path: string
  service: string | null
  message: string
}

/** A part of the files that a version cannot hold, and why. */
export type NotKept = SourcePosition & { path: string; service: string | null; reason: string }

export type ReadInput = {
  /** The first file is the base, the others override it in their order, as `docker compose -f a -f b` does. Included and extended files too. */
  files: readonly SourceFile[]
  /** The first is the default `.env`; its values are used for interpolation. Services name the others in `env_file`. */
  envFiles: readonly SourceFile[]
  /** Active profiles: services of other profiles are left out and listed as not kept. */
  profiles?: readonly string[]
}

/** All files as one, after interpolation, `include`, `extends` and overrides; valid for the schema, with short forms as they were written. */
export type ComposeDocument = {
  value: { [key: string]: ComposeValue }
  /** The place where a value was written, or the nearest one above it that has a place. */
  position(path: ComposePath): SourcePosition
  /** The variables of the files that each service names in `env_file`, later files over earlier ones. */
  envFileVariables: { [service: string]: { [name: string]: string } }
  /** Names of services with an error, which are left out of the conversion. */
  invalidServices: ReadonlySet<string>
}

export type ReadResult = {
  /** Absent if no file could be read as a compose file. */
  document?: ComposeDocument
  problems: ComposeProblem[]
  notKept: NotKept[]
}

/** One service as an image of a version. */
export type ConvertedImage = {
  /** Its key below `services`. */
  service: string
  /** The image as it was written, after interpolation. */
  reference: string
  /** The full name without tag, such as `docker.io/library/nginx`. */
  name: string
  /** A tag, a digest (`sha256:...`), a tag with its digest (`1.2@sha256:...`), or null. */
  tag: string | null
  position: SourcePosition
  config: ContainerConfigFields
}

export type ConvertResult = {
  /** In the order in which they start. */
  images: ConvertedImage[]
  problems: ComposeProblem[]
  notKept: NotKept[]
}
