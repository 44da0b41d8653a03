/** A double of a port: what a spread of it gives is one too, which the compiler does not see of a class. */
export type Spreadable<Port> = { [Member in keyof Port]: Port[Member] };
