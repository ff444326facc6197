/**
 * Several modules in one file. The first is the file itself. Each other stands compressed at its end, is unpacked when it is first
 * imported, and imports the first as if all of them lay beside each other.
 */
import { brotliCompressSync, constants } from "node:zlib"

/** A module that the others import by its name, as `./name`. */
export interface Part {
  readonly name: string
  readonly code: string
}

/**
 * What stands before the first module: hooks that resolve and load the others
 * (https://nodejs.org/api/module.html#moduleregisterhooksoptions).
 */
export const head = (first: string, others: ReadonlyArray<string>): string =>
  others.length === 0
    ? ""
    : `import { registerHooks as layerhost$hooks } from "node:module";
layerhost$hooks(((first, names) => {
  const nameOf = (url) => url?.startsWith(first.base) ? url.slice(first.base.length) : undefined;
  const isOwn = (url) => url === first.url || names.has(nameOf(url));
  return {
    resolve: (specifier, context, next) => {
      const name = specifier.startsWith("./") && isOwn(context.parentURL) ? specifier.slice(2) : undefined;
      const url = name === first.name ? first.url : names.has(name) ? first.base + name : undefined;
      return url === undefined ? next(specifier, context) : { url, format: "module", shortCircuit: true };
    },
    load: (url, context, next) => {
      const name = nameOf(url);
      if (!names.has(name)) return next(url, context);
      const packed = Buffer.from(layerhost$parts()[name], "base64");
      const source = process.getBuiltinModule("node:zlib").brotliDecompressSync(packed).toString();
      return { format: "module", source, shortCircuit: true };
    }
  };
})(
  { url: import.meta.url, base: new URL("./", import.meta.url).href, name: ${JSON.stringify(first)} },
  new Set(${JSON.stringify(others)})
));`

/** What stands behind the first module: the others, in a function, whose body is not looked at before one of them is asked for. */
export const tail = (others: ReadonlyArray<Part>): string =>
  others.length === 0
    ? ""
    : `\nfunction layerhost$parts() { return {\n${others.map(({ code, name }) => `${JSON.stringify(name)}: "${packed(code)}"`).join(",\n")}\n} }\n`

const packed = (code: string): string =>
  brotliCompressSync(code, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }).toString("base64")
