/**
 * Configuration sections: a named part of the layered configuration, decoded once at start into a typed service.
 *
 * A section is a service key and a Schema in one. The host reads the part of the configuration at the section's path,
 * decodes it, and provides the result to the plugin that lists the section.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

/** The decoded fields of a section. */
export type Values<Fields extends Schema.Struct.Fields> = Schema.Struct<Fields>["Type"]

/** What is wrong with values that are valid one by one. */
export interface Fault {
  /** The whole key, such as `mail:password`; it may be one of another section. */
  readonly key: string
  /** What was expected and why, without any secret: `Expected a value, since mail:user is set`. */
  readonly message: string
}

/**
 * Finds what no field can tell alone: that one value needs another, or that a file is not there. It runs wherever the
 * configuration is read, and so also where nothing starts; other sections are there for `Effect.serviceOption`, unless they
 * are not valid themselves.
 */
export type Check<Values> = (values: Values) => Effect.Effect<ReadonlyArray<Fault>, never, FileSystem.FileSystem>

/**
 * The class that {@link Service} returns: the service key of a section, with its path and its Schema.
 */
export interface Section<Self, Path extends string, Fields extends Schema.Struct.Fields> extends Context.ServiceClass<
  Self,
  `layerhost/Section/${Path}`,
  Values<Fields>
> {
  /** Where the section stands in the configuration: keys joined by `:`, for example `host:tls`. Case does not matter. */
  readonly path: Path
  /** Decodes the section's part of the configuration; the defaults stand in it. */
  readonly schema: Schema.Struct<Fields>
  /** Looks at the decoded values together: a static property of the class that has one. {@link layer} does not run it. */
  readonly check?: Check<Values<Fields>>
  /**
   * The section with the given values, each as its Schema is encoded (a number is a number, and keys are spelled as they
   * are declared), and with the defaults of all others: for tests, and for use without the host.
   */
  readonly layer: (
    input?: Schema.Struct<Fields>["Encoded"] | Record<string, never>
  ) => Layer.Layer<Self, Schema.SchemaError>
}

/** Any section, whatever its fields. */
export interface Any extends Context.Key<any, any> {
  readonly key: string
  readonly path: string
  readonly schema: Schema.Codec<unknown, unknown>
  readonly check?: Check<any>
}

/** The service identifier of a section class. */
export type Identifier<S> = S extends Context.Key<infer Self, infer _Values> ? Self : never

/**
 * Declares a configuration section as a service.
 *
 * Every field that may be absent needs a default (`Schema.withDecodingDefaultKey`) or `Schema.optionalKey`. Fields that
 * hold a secret use `Schema.RedactedFromValue`, so that no log and no error shows them. What the fields must be together is
 * for {@link Section.check}, whose faults stand in the same report as those of single fields.
 *
 * @example
 * ```ts
 * class Mail extends Section.Service<Mail>()("mail", {
 *   server: Schema.String,
 *   port: Schema.Int.pipe(Schema.withDecodingDefaultKey(Effect.succeed(587))),
 *   password: Schema.RedactedFromValue(Schema.String)
 * }) {}
 * ```
 */
export const Service =
  <Self>() =>
  <const Path extends string, const Fields extends Schema.Struct.Fields>(
    path: Path,
    fields: Fields
  ): Section<Self, Path, Fields> => {
    const key = Context.Service<Self, Values<Fields>>()(`layerhost/Section/${path}`)
    const schema = Schema.Struct(fields)
    type Checked = { readonly schema: Schema.Codec<Values<Fields>, unknown> }
    return Object.assign(key, {
      path,
      schema,
      // A class may put a Schema with checks of its own in the place of this one.
      layer(this: Checked, input: unknown = {}) {
        return Layer.effect(key, Schema.decodeUnknownEffect(this.schema, { errors: "all" })(input))
      }
    }) as unknown as Section<Self, Path, Fields>
  }

/**
 * What a host provides that reads changed configuration again: the values of a section, those in force first. By default
 * nothing ever changes.
 */
export const Changes = Context.Reference<(section: Any) => Stream.Stream<unknown> | undefined>(
  "layerhost/Section/Changes",
  { defaultValue: () => () => undefined }
)

/**
 * The values of a section: those in force, then each change while the service runs (`host:reloadOnChange`). A change that
 * is not valid never comes here.
 *
 * @example
 * ```ts
 * Task.make("follow mail settings", Stream.runForEach(Section.changes(Mail), (mail) => mailer.use(mail)))
 * ```
 */
export const changes = <Self, Path extends string, Fields extends Schema.Struct.Fields>(
  section: Section<Self, Path, Fields>
): Stream.Stream<Values<Fields>, never, Self> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const atStart = yield* section
      const found = (yield* Changes)(section as unknown as Any)
      return found === undefined ? Stream.make(atStart) : (found as Stream.Stream<Values<Fields>>)
    })
  )
